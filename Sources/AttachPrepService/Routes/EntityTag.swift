import HTTPTypes
import Hummingbird

/// Content's name in HTTP: its digest, so that the same bytes have the same one on every machine.
struct EntityTag: Sendable {
    /// As the `ETag` header has it, in quotes.
    let text: String

    /// - Parameter sha256: in hexadecimal.
    init(sha256: String) {
        text = "\"\(sha256)\""
    }

    /// Whether the caller has this content already (RFC 9110, 13.1.2).
    func isKnown(to request: Request) -> Bool {
        request.headers[values: .ifNoneMatch].flatMap { $0.split(separator: ",") }.contains { field in
            let known = field.trimmingSpaces()
            return known == "*" || known == text || known == "W/\(text)"
        }
    }
}
