#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A point in time as the contracts write it: RFC 3339 in UTC with milliseconds, `2026-11-21T20:51:02.123Z`.
public enum Timestamp {
    public static func text(_ date: Date) -> String {
        // Whole milliseconds, so that what is written is read back as the same.
        date.wholeMilliseconds.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Reads any RFC 3339 time, with an offset and with or without fractions of a second; nil for anything else.
    public static func date(_ text: String) -> Date? {
        let styles = [
            Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
        ]
        return styles.lazy.compactMap { try? $0.parse(text) }.first
    }
}

extension Date {
    /// The same time without what is below a millisecond.
    package var wholeMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
