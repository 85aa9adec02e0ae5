/// The question whether a file is still the one that was fetched before (RFC 9110, 13).
struct ConditionalRequest: Sendable, Hashable {
    let validators: SourceValidators

    /// For a hop; nil when the validators are not of its address, or none are there.
    ///
    /// A tag names a version of what one address serves. If it were sent along a redirect to another address, a file
    /// there that bears the same tag by chance would pass for the old one.
    init?(_ validators: SourceValidators?, for hop: WebAddress, isFirst: Bool) {
        guard let validators, validators.entityTag != nil || validators.lastModified != nil,
            validators.address.map({ $0 == hop.digest }) ?? isFirst
        else { return nil }
        self.validators = validators
    }

    /// A server that knows tags looks at the tag alone.
    var headerLines: [String] {
        [
            validators.entityTag.map { "If-None-Match: \($0)" },
            validators.lastModified.map { "If-Modified-Since: \($0)" },
        ].compactMap { $0 }
    }
}

/// Why a download brought nothing: the file is still the one that was fetched before.
package struct UnchangedSource: Error, Sendable, Hashable {
    package var freshness: SourceFreshness
    package var timings: DownloadTimings
}
