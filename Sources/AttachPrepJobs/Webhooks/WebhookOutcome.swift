#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What came of a try.
public enum WebhookOutcome: Sendable, Hashable {
    case delivered(status: Int)
    case retry(at: Date, status: Int?, error: String)
    case givenUp(status: Int?, error: String)
}
