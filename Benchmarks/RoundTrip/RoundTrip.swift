import AttachPrep
import Glibc
import MediaEngine
import MediaProcessing

/// Measures the overhead of a call to a warm media process, by making the same calls in this process and in the pool.
///
/// Usage: `RoundTrip attachprep-media FILE`.
@main
struct RoundTrip {
    private static let rounds = 3_000
    private static let startRounds = 20

    static func main() async throws {
        guard CommandLine.arguments.count == 3 else {
            print("RoundTrip attachprep-media FILE")
            exit(2)
        }
        let source = unsafe open(CommandLine.arguments[2], O_RDONLY | O_CLOEXEC)
        guard source >= 0 else {
            print("\(CommandLine.arguments[2]) cannot be opened")
            exit(1)
        }
        let pool = try MediaProcessPool(executable: CommandLine.arguments[1], mediaSlots: 1)
        let processor = try MediaProcessor()
        let empty = MediaCall.identify(IdentifyRequest(availableBytes: 0, isComplete: true))
        let identify = MediaCall.identify(IdentifyRequest(availableBytes: 4_096, isComplete: false))
        for (name, call) in [("empty call", empty), ("identification", identify)] {
            let here = await measure {
                _ = try? processor.perform(call, descriptors: [source], deadline: .now + .seconds(30))
            }
            let there = await measure {
                _ = try? await pool.perform(call, descriptors: [source], deadline: .now + .seconds(30))
            }
            print("\(name): in this process \(here), through the pool \(there)")
            print("  round trip: \(Int((there.median - here.median).rounded())) µs")
        }
        await pool.shutdown()
        try await measureStart(executable: CommandLine.arguments[1], empty, source)
    }

    /// Measures the time from start to the first answer: the wait of a caller without a warm media process.
    private static func measureStart(executable: String, _ call: MediaCall, _ source: CInt) async throws {
        let times = try await measure(rounds: startRounds) {
            let pool = try MediaProcessPool(executable: executable, mediaSlots: 1)
            _ = try? await pool.perform(call, descriptors: [source], deadline: .now + .seconds(30))
            await pool.shutdown()
        }
        print("start of a media process, first answer and shutdown: \(times)")
    }

    private struct Times: CustomStringConvertible {
        let median: Double
        let slow: Double

        var description: String { "\(median) µs (99th percentile \(slow) µs)" }
    }

    private static func measure(rounds: Int = rounds, _ body: () async throws -> Void) async rethrows -> Times {
        for _ in 0..<(rounds / 10) { try await body() }
        var times: [Double] = []
        for _ in 0..<rounds {
            let start = ContinuousClock.now
            try await body()
            let attoseconds = start.duration(to: .now).components.attoseconds
            times.append((Double(attoseconds) / 1e11).rounded() / 10)
        }
        times.sort()
        return Times(median: times[rounds / 2], slow: times[rounds * 99 / 100])
    }
}
