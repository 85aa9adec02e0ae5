import Foundation
import TestSupport

/// A payload with the neutral object, and files for it.
struct DevicePayload {
    var attachments: [String] = []
    var receipt: String?

    var text: String {
        let receipt = receipt.map { #", "receipt": \#($0)"# } ?? ""
        return """
            {"aps": {"alert": {"title": "Cats", "body": "A new one"}, "mutable-content": 1},
             "attachprep": {"attachments": [\(attachments.joined(separator: ", "))]\(receipt)}}
            """
    }

    static func attachment(
        _ url: String, type: String = "public.jpeg", id: String = "0", bytes: Int? = nil, sha256: String? = nil,
        options: String = "", thumbnail: String? = nil
    ) -> String {
        let facts = (bytes.map { #", "bytes": \#($0)"# } ?? "") + (sha256.map { #", "sha256": "\#($0)""# } ?? "")
        let thumbnail = thumbnail.map { #", "thumbnail": {"url": "\#($0)"}"# } ?? ""
        return
            #"{"id": "\#(id)", "url": "\#(url)"\#(facts), "options": {"typeHint": "\#(type)"\#(options)}\#(thumbnail)}"#
    }
}

/// Bytes that a device takes for media: it looks at names, lengths and digests alone.
enum DeviceFile {
    static let picture = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    static let thumbnail = Data("a small picture".utf8)

    static func sha256(_ data: Data) throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(Array(data), to: "file")
        let result = try RunCommand("sha256sum", [folder.path("file")]).runBlocking()
        return String(result.text.prefix(64))
    }
}
