internal import RichPush

/// One download as ordered.
package struct DownloadRequest: Sendable {
    /// As the caller wrote it: user info becomes Basic authentication for the first origin.
    package var url: String
    /// Sent to the first origin (scheme, host, port) only.
    package var headers: [(name: String, value: String)]
    /// The most bytes of decoded body that are taken in, until a verdict says less.
    package var bytesMax: Int
    /// When everything must have ended, retries included.
    package var deadline: ContinuousClock.Instant
    /// What was fetched before: the download ends with `UnchangedSource` when it is still that.
    package var validators: SourceValidators?
    /// Told of the body as it arrives.
    package var observer: (any ArrivalObserver)?

    package init(
        url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        deadline: ContinuousClock.Instant
    ) {
        self.url = url
        self.headers = headers
        self.bytesMax = bytesMax
        self.deadline = deadline
    }
}
