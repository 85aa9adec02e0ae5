internal import FoundationEssentials
import MediaTypes
internal import SafeArithmetic

/// The conditional headers that ask whether a file has changed since it was fetched (RFC 9110, 13).
struct ConditionalRequest: Sendable, Hashable {
    let validators: SourceValidators

    /// The condition for one hop; nil without validators, or when they belong to another URL.
    ///
    /// A tag is valid for one URL only. Sent to another URL after a redirect, it could match an unrelated file that has
    /// the same tag.
    init?(_ validators: SourceValidators?, for hop: WebAddress, isFirst: Bool) {
        guard let validators, validators.entityTag != nil || validators.lastModified != nil,
            validators.address.map({ $0 == hop.digest }) ?? isFirst
        else { return nil }
        self.validators = validators
    }

    /// Both headers if known; a server that supports tags ignores the date.
    var headerLines: [String] {
        [
            validators.entityTag.map { "If-None-Match: \($0)" },
            validators.lastModified.map { "If-Modified-Since: \($0)" },
        ].compactMap { $0 }
    }
}
