import Foundation
import Glibc

/// Checks that the cost of an input grows in proportion to its size: doubling it costs at most 2.5 times as much, plus
/// 10 ms. Only processor times of one run are compared.
public enum LinearCost {
    /// Whether costs are compared: `make test-hostile` does, since other work on the machine can disturb them.
    public static var isCompared: Bool { ProcessInfo.processInfo.environment["ATTACHPREP_HOSTILE"] != nil }

    /// The processor milliseconds of half an input and of the whole.
    public struct Measurement: Sendable, CustomStringConvertible {
        public let half: Double
        public let whole: Double

        public var isLinear: Bool { whole <= half * 2.5 + 10 }
        public var description: String { "half \(half) ms, whole \(whole) ms" }
    }

    /// Measurements until one is linear: others on the machine can make any of them longer.
    private static let attemptsMax = 4

    /// Measures work on the calling thread with inputs of half of `size` and of `size`; the least of the attempts.
    public static func measure<Input>(
        _ size: Int, of input: (Int) -> Input, _ work: (Input) throws -> Void
    ) -> Measurement {
        let inputs = (half: input(size / 2), whole: input(size))
        func time(_ input: Input) -> Double {
            let start = milliseconds(CLOCK_THREAD_CPUTIME_ID)
            try? work(input)
            return milliseconds(CLOCK_THREAD_CPUTIME_ID) - start
        }
        var best = Measurement(half: time(inputs.half), whole: time(inputs.whole))
        for _ in 1..<attemptsMax where !best.isLinear {
            best = Measurement(half: min(best.half, time(inputs.half)), whole: min(best.whole, time(inputs.whole)))
        }
        return best
    }

    /// The same for work on other threads of this process, such as those of a service: processor time of the process.
    public static func measure<Input: Sendable>(
        _ size: Int, of input: (Int) -> Input, _ work: (Input) async throws -> Void
    ) async -> Measurement {
        let inputs = (half: input(size / 2), whole: input(size))
        func time(_ input: Input) async -> Double {
            let start = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
            try? await work(input)
            return milliseconds(CLOCK_PROCESS_CPUTIME_ID) - start
        }
        var best = Measurement(half: await time(inputs.half), whole: await time(inputs.whole))
        for _ in 1..<attemptsMax where !best.isLinear {
            best = Measurement(
                half: min(best.half, await time(inputs.half)), whole: min(best.whole, await time(inputs.whole)))
        }
        return best
    }

    private static func milliseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1e6
    }
}

/// Texts that are expensive for programs that compare, split or search them carelessly.
public enum HostileText: String, CaseIterable, Sendable {
    case marks, percentEncodedMarks, joiners, flags, letters, digits, spaces, commas, equals, slashes, colons, at
    case backslashes, quotes, semicolons, ampersands, percents, brackets, controls

    /// A text of at most so many bytes.
    public func text(_ bytes: Int) -> String {
        let unit =
            switch self {
            // Two classes of marks in turn: each comparison sorts them.
            case .marks: "\u{301}\u{323}"
            case .percentEncodedMarks: "%CC%81%CC%A3"
            case .joiners: "\u{1F469}\u{200D}"
            case .flags: "\u{1F1E9}"
            case .letters: "a"
            case .digits: "9"
            case .spaces: " "
            case .commas: "a,"
            case .equals: "a="
            case .slashes: "/"
            case .colons: "a:"
            case .at: "a:/@"
            case .backslashes: "\\"
            case .quotes: "\""
            case .semicolons: "a;"
            case .ampersands: "a=b&"
            case .percents: "%"
            case .brackets: "[{"
            case .controls: "\u{1B}\u{85}"
            }
        return "e" + String(repeating: unit, count: max(0, (bytes - 1) / unit.utf8.count))
    }

    /// The text as a JSON string, with quotes.
    public func json(_ bytes: Int) -> String {
        let escaped = text(bytes).unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case _ where scalar.value < 0x20: "\\u00" + String(scalar.value + 0x100, radix: 16).dropFirst()
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }

    /// Those that readers of header fields could be slow at.
    public static let ofHeaders: [HostileText] = [
        .marks, .joiners, .flags, .digits, .spaces, .commas, .equals, .slashes, .quotes, .semicolons,
    ]
}
