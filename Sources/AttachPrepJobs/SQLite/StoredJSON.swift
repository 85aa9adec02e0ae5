import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Values as the database holds them: one line of JSON.
enum StoredJSON {
    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Throws: `queue.unavailable` for what is none.
    static func value<Value: Decodable>(_ text: String, _ what: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw StoreFault.unreadable(what, error)
        }
    }

    /// - Throws: `queue.unavailable` for what is none.
    static func request(_ text: String) throws -> AttachmentRequest {
        do {
            return try AttachmentRequest(json: Array(text.utf8), defaults: AttachmentRequest(source: ""))
        } catch {
            throw StoreFault.unreadable("a request", error)
        }
    }
}
