import Crypto
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where a request's result stands, and whether a result that stands there is still the one that is meant.
package struct RequestIdentity: Sendable, Hashable {
    /// The caller's, else derived from the source and the options: the same request lands in the same place.
    package let id: String
    /// Of everything that would change the result, the state of a local file included.
    package let digest: String

    /// - Parameter localState: size and time of a local source; nil for a URL.
    package init(_ request: AttachmentRequest, localState: String?) throws {
        var nameless = request
        nameless.id = nil
        // How long it may take changes nothing in what comes out.
        nameless.budgetSeconds = Limits.budgetSeconds
        nameless.terms = JobTerms()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let canonical = try encoder.encode(nameless)
        let name = SHA256.hash(data: canonical).hexadecimal
        id = request.id ?? String(name.prefix(32))
        let whole = canonical + Data("\(Manifest.currentSchema) \(localState ?? "")".utf8)
        digest = SHA256.hash(data: whole).hexadecimal
    }
}
