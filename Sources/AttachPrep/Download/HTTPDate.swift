#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A time as header fields write it (RFC 9110, 5.6.7), in each of its three forms.
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    /// RFC 850 writes two digits of a year; what would lie far ahead is meant of the century before.
    private static let centuryTurn = 70

    /// Nil for anything else.
    static func date(_ text: String) -> Date? {
        // "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"
        let words = text.split { " ,-".contains($0) }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT": return date(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5: return date(day: words[2], month: words[1], year: words[4], time: words[3])
        default: return nil
        }
    }

    private static func date(day: String, month: String, year: String, time: String) -> Date? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { number(String($0), digits: 2) }
        guard let day = number(day, digits: 2), 1...31 ~= day, let month = months.firstIndex(of: month),
            let written = number(year, digits: 4), clock.count == 3, let hour = clock[0], hour < 24,
            let minute = clock[1], minute < 60, let second = clock[2], second <= 60
        else { return nil }
        // Bounded: four digits.
        let year = year.utf8.count > 2 ? written : written + (written < centuryTurn ? 2000 : 1900)
        // Bounded: two digits each.
        let seconds = hour * 3600 + minute * 60 + second
        // Bounded: of a year of four digits.
        return Date(timeIntervalSince1970: Double(days(to: day, month + 1, year) * 86_400 + seconds))
    }

    private static func number(_ text: String, digits: Int) -> Int? {
        guard 1...digits ~= text.utf8.count, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        // Bounded: at most four digits, into an optional.
        return Int(text)
    }

    /// Days since 1970 in the calendar of all header fields.
    private static func days(to day: Int, _ month: Int, _ year: Int) -> Int {
        // Years that begin in March have their leap day at the end.
        // Bounded: four digits.
        let year = month > 2 ? year : year - 1
        // Bounded: of a month and a day.
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        // Bounded: four digits.
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
