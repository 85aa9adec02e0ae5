import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension CodingUserInfoKey {
    /// What holds for keys that a request leaves out: an `AttachmentRequest`.
    static let requestDefaults: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "requestDefaults") else {
            preconditionFailure("a non-empty name makes a key")
        }
        return key
    }()
}

extension AttachmentRequest {
    /// Reads a request from JSON; keys that it leaves out are as in `defaults`.
    ///
    /// - Throws: `request.invalid` for what is not such a JSON object, or what a wrong option is.
    public init(json: [UInt8], defaults: AttachmentRequest) throws {
        let decoder = JSONDecoder()
        decoder.userInfo[.requestDefaults] = defaults
        do {
            self = try decoder.decode(AttachmentRequest.self, from: Data(json))
        } catch let error as AttachPrepError {
            throw error
        } catch let error as DecodingError {
            throw AttachPrepError(.requestInvalid, Self.sentence(error), detail: "\(error)")
        }
    }

    private static func sentence(_ error: DecodingError) -> String {
        let place = { (context: DecodingError.Context) in
            context.codingPath.map(\.stringValue).joined(separator: ".")
        }
        return switch error {
        case .keyNotFound(let key, _): "The request has no \"\(key.stringValue)\"."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "The request's \"\(place(context))\" has a value of the wrong type."
        case .dataCorrupted(let context) where !context.codingPath.isEmpty:
            "The request's \"\(place(context))\" has a value that is not known."
        default: "The request is not a JSON object."
        }
    }
}
