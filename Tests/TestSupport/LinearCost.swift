import Glibc

/// Checks that the cost of an input grows in proportion to its size: doubling it costs at most 2.5 times as much, plus
/// 10 ms. Only processor times of one run are compared.
public enum LinearCost {
    /// The processor milliseconds of half an input and of the whole.
    public struct Measurement: Sendable, CustomStringConvertible {
        public let half: Double
        public let whole: Double

        public var isLinear: Bool { whole <= half * 2.5 + 10 }
        public var description: String { "half \(half) ms, whole \(whole) ms" }
    }

    /// Measures work on the calling thread with inputs of half of `size` and of `size`; the least of three runs.
    public static func measure<Input>(
        _ size: Int, of input: (Int) -> Input, _ work: (Input) throws -> Void
    ) -> Measurement {
        let inputs = (half: input(size / 2), whole: input(size))
        return Measurement(half: least { try? work(inputs.half) }, whole: least { try? work(inputs.whole) })
    }

    private static func least(_ work: () -> Void) -> Double {
        (0..<3).map { _ in
            let start = milliseconds(CLOCK_THREAD_CPUTIME_ID)
            work()
            return milliseconds(CLOCK_THREAD_CPUTIME_ID) - start
        }.min() ?? 0
    }

    /// The same for work on other threads of this process, such as those of a service: processor time of the process.
    public static func measure<Input: Sendable>(
        _ size: Int, of input: (Int) -> Input, _ work: (Input) async throws -> Void
    ) async -> Measurement {
        let inputs = (half: input(size / 2), whole: input(size))
        func least(_ input: Input) async -> Double {
            var times: [Double] = []
            for _ in 0..<3 {
                let start = milliseconds(CLOCK_PROCESS_CPUTIME_ID)
                try? await work(input)
                times.append(milliseconds(CLOCK_PROCESS_CPUTIME_ID) - start)
            }
            return times.min() ?? 0
        }
        return Measurement(half: await least(inputs.half), whole: await least(inputs.whole))
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

    /// Whether it can be the value of a header field.
    public var isHeaderValue: Bool { self != .controls }
}
