/// How one transfer ended, and what it took.
package struct TransferReport: Sendable, Hashable {
    package var ending: TransferEnding
    /// "1.0", "1.1" or "2"; nil when no answer came.
    package var httpVersion: String?
    /// How many connections had to be opened; 0 when one was reused.
    package var connectionsOpened = 0
    package var timings = TransferTimings()
    /// How long the server asked to be left alone; nil when it did not.
    package var retryAfter: Duration?

    /// The status a proxy answered a tunnel with; nil without a tunnel.
    package var proxyStatus: Int?

    package init(_ ending: TransferEnding) {
        self.ending = ending
    }
}

/// Why a transfer is over.
package enum TransferEnding: Sendable, Hashable {
    /// The whole answer has arrived, whatever its status.
    case completed
    /// libcurl gave up, or the observer refused.
    case failed(CurlError)
    case connectTimedOut
    case firstByteTimedOut
    case stalled
    case deadlineReached
    /// The answer came in a transfer coding other than `chunked`; nothing of its body was read.
    case transferCodingRefused
    /// libcurl did not come back from a call, and the loop was given up with all that ran on it; another try may help.
    case abandoned
    /// The waiting task was cancelled, or the loop was shut down.
    case cancelled
}

/// Milliseconds spent in the stages of one transfer; 0 for a stage that a reused connection skips.
package struct TransferTimings: Sendable, Hashable {
    package var connect = 0.0
    package var tls = 0.0
    package var firstByte = 0.0
    package var transfer = 0.0

    package init() {}
}
