public import FoundationEssentials

/// A point in time as JSON and manifests write it: RFC 3339 in UTC with milliseconds, `2026-11-21T20:51:02.123Z`.
public enum Timestamp {
    public static func text(_ date: Date) -> String {
        // Rounded to milliseconds, so that the text parses to the same date.
        date.wholeMilliseconds.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// Parses an RFC 3339 time, with any offset, with or without fractions of a second; nil for anything else.
    public static func date(_ text: String) -> Date? {
        let text = text.uppercased()
        guard let ahead = secondsAhead(text) else { return nil }
        var local = String(text.dropLast(text.hasSuffix("Z") ? 1 : 6))
        // A leap second, :60, is taken as the first second of the next minute.
        let isLeapSecond = local.dropFirst(17).hasPrefix("60")
        if isLeapSecond { local = "\(local.prefix(17))59\(local.dropFirst(19))" }
        let styles = [
            Date.ISO8601FormatStyle(includingFractionalSeconds: true), Date.ISO8601FormatStyle(),
        ]
        guard let date = styles.lazy.compactMap({ try? $0.parse("\(local)Z") }).first, matches(date, local: local)
        else {
            return nil
        }
        return date.addingTimeInterval((isLeapSecond ? 1 : 0) - ahead)
    }

    /// Rejects normalized dates: `ISO8601FormatStyle` parses 12:99 as 13:39, and February 31 as a day in March.
    private static func matches(_ date: Date, local: String) -> Bool {
        let whole = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        return text(whole).prefix(19) == local.prefix(19)
    }

    /// The offset from UTC in seconds; nil for an invalid one. `ISO8601FormatStyle` accepts no offset beyond 18 hours.
    private static func secondsAhead(_ text: String) -> Double? {
        guard !text.hasSuffix("Z") else { return 0 }
        let offset = Array(text.suffix(6))
        guard offset.count == 6, offset[3] == ":", offset[0] == "+" || offset[0] == "-",
            let hours = UInt(String(offset[1...2])), let minutes = UInt(String(offset[4...5])), hours < 24, minutes < 60
        else { return nil }
        return (offset[0] == "-" ? -1 : 1) * Double(hours * 3600 + minutes * 60)
    }
}

extension Date {
    /// The date rounded to milliseconds.
    package var wholeMilliseconds: Date {
        Date(timeIntervalSince1970: (timeIntervalSince1970 * 1000).rounded() / 1000)
    }
}
