package import AttachPrepModel

/// A file of a result: its name in the manifest and its content. Pure.
public struct PublishedFile: Sendable, Hashable {
    /// The name in the manifest: `attachment.jpg`.
    public let name: String
    /// Lowercase hexadecimal.
    public let sha256: String

    public init(name: String, sha256: String) {
        self.name = name
        self.sha256 = sha256
    }

    /// The folder of files by content. No result can have this name, since an id begins with a letter or a digit.
    static let contentFolder = "_content"
    /// Digits of the digest in a path: 128 bits, so that no two files have the same.
    static let pathDigits = 32
    /// Digits of the digest in a suggested name: enough for the notifications of one phone.
    private static let nameDigits = 8

    /// The path by content: `_content/1160….jpg`.
    package var contentPath: String { "\(Self.contentFolder)/\(sha256.prefix(Self.pathDigits))\(suffix)" }

    /// The name under which a client saves the file: `attachment-1160ab42.jpg`.
    ///
    /// Many extensions save a download under the name that the server suggests, in one folder for all notifications.
    /// With equal names, a notification would show the image of another.
    ///
    /// The name of a sealed file is unique already.
    public var suggestedName: String {
        suffix.isEmpty ? name : "\(name.dropLast(suffix.count))-\(sha256.prefix(Self.nameDigits))\(suffix)"
    }

    /// The extension with its dot; empty without one.
    private var suffix: Substring { name.lastIndex(of: ".").map { name[$0...] } ?? "" }

    /// The name in the manifest and the digits of the digest for a name of the form of `suggestedName`; nil for another
    /// name.
    public static func parse(suggestedName: String) -> (name: String, digits: String)? {
        guard let dot = suggestedName.lastIndex(of: "."), let dash = suggestedName[..<dot].lastIndex(of: "-")
        else { return nil }
        let digits = suggestedName[suggestedName.index(after: dash)..<dot]
        guard digits.count == nameDigits else { return nil }
        return (String(suggestedName[..<dash] + suggestedName[dot...]), String(digits))
    }
}

extension Manifest {
    /// The files of the result, the attachment first.
    var publishedFiles: [PublishedFile] { files.map { PublishedFile(name: $0.name, sha256: $0.sha256) } }

    /// The layout in which the result was published, from the attachment's URL.
    var layout: ResultLayout {
        if sealed != nil { return .content }
        guard let attachment, let url = attachment.url else { return .id }
        let file = PublishedFile(name: attachment.file, sha256: attachment.sha256)
        return url.hasSuffix("/\(file.contentPath)") ? .content : .id
    }

    /// The manifest with the URLs that its files have at a target, in a layout.
    func located(at target: any PublishTarget, layout: ResultLayout) -> Manifest {
        withURLs { target.url(of: $0, in: id, layout: layout) }
    }

    /// The manifest with another URL for each of its files.
    package func withURLs(_ url: (PublishedFile) -> String?) -> Manifest {
        var manifest = self
        manifest.attachment?.url = attachment.flatMap { url(PublishedFile(name: $0.file, sha256: $0.sha256)) }
        manifest.thumbnail?.url = thumbnail.flatMap { url(PublishedFile(name: $0.file, sha256: $0.sha256)) }
        manifest.crop?.url = crop.flatMap { url(PublishedFile(name: $0.file, sha256: $0.sha256)) }
        manifest.renditions = renditions?.mapValues { rendition in
            var rendition = rendition
            rendition.url = url(PublishedFile(name: rendition.file, sha256: rendition.sha256))
            return rendition
        }
        return manifest
    }
}
