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
        let date = styles.lazy.compactMap { try? $0.parse(text) }.first
        // The styles take 12:99 for 13:39, and the 31st of February for a day in March.
        return date.flatMap { agrees($0, text) ? $0 : nil }
    }

    /// Whether a time is, at its own offset, the minute that its text says.
    private static func agrees(_ date: Date, _ text: String) -> Bool {
        let isLeapSecond = text.dropFirst(17).hasPrefix("60")
        let local = date.addingTimeInterval(offsetSeconds(of: text) - (isLeapSecond ? 1 : 0))
        return Self.text(local).prefix(16) == text.prefix(16).uppercased()
    }

    /// Seconds that the offset at the end is ahead of UTC.
    private static func offsetSeconds(of text: String) -> Double {
        let offset = text.suffix(6)
        guard let sign = offset.first, sign == "+" || sign == "-" else { return 0 }
        let parts = offset.dropFirst().split(separator: ":").compactMap { Double($0) }
        guard parts.count == 2 else { return 0 }
        return (sign == "-" ? -1 : 1) * (parts[0] * 3600 + parts[1] * 60)
    }
}

extension Date {
    /// The same time without what is below a millisecond.
    package var wholeMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
