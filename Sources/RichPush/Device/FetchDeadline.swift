#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// When a device gives up on one file and turns to the next: a rule over the seconds since the notification came.
///
/// - The thumbnail is fetched beside an attachment that is not here after `Limits.deviceThumbnailSeconds`, or as soon
///   as all attachments have failed: iOS may end the extension long before its 30 s, and then it is at hand.
/// - An attachment has the time that is left; the ones behind it are for those that fail, not for those that are slow.
/// - Nothing is begun that has no time left to arrive.
public struct FetchDeadline: Sendable, Hashable {
    /// For everything, in seconds from the notification's arrival.
    public let seconds: Double

    public init(seconds: Double = Limits.deviceSeconds) {
        self.seconds = seconds
    }

    /// How long a file that is begun now may take; nil when it is not worth beginning.
    public func secondsLeft(after elapsed: Double) -> Double? {
        // Bounded: floating point, which does not trap.
        let left = seconds - elapsed - Limits.deviceReserveSeconds
        return left >= min(Limits.deviceFetchSecondsMin, seconds / 4) ? left : nil
    }

    /// When the thumbnail is fetched while an attachment is still on its way: never past half of a short deadline.
    public var thumbnailAfterSeconds: Double { min(Limits.deviceThumbnailSeconds, seconds / 2) }
}

/// Where a redirect may lead.
public enum FetchRedirect {
    /// https stays https; plain http, which App Transport Security allows only to apps that ask for it, may become it.
    ///
    /// - Parameter count: redirects so far, this one included.
    public static func isAllowed(from source: URL?, to target: URL?, count: Int) -> Bool {
        guard count <= Limits.deviceRedirectsMax, let scheme = target?.scheme?.lowercased() else { return false }
        return scheme == "https" || (scheme == "http" && source?.scheme?.lowercased() == "http")
    }
}
