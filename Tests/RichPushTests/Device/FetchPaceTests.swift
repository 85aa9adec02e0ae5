import RichPush
import Testing

/// When a download is given up for a smaller rendition.
struct FetchPaceTests {
    /// Bytes received and expected, seconds since the response header, seconds left, and whether the rest misses them.
    private static let cases: [(Int, Int, Double, Double, Bool)] = [
        // 3G: 5 MB at 200 KB/s take 25 s.
        (200_000, 5_000_000, 1, 22, true),
        (200_000, 4_600_000, 1, 22, false),
        (2_000_000, 5_000_000, 10, 13, true),
        (2_000_000, 4_600_000, 10, 13, false),
        // LTE: 50 MB at 1.5 MB/s take 33 s.
        (1_500_000, 50_000_000, 1, 22, true),
        // Wi-Fi.
        (5_000_000, 50_000_000, 1, 22, false),
        // The rate is not known yet.
        (0, 5_000_000, 0.9, 22, false),
        // Nothing arrives.
        (0, 20_000, 1, 22, true),
        // All has arrived.
        (20_000, 20_000, 30, 0, false),
        (20_001, 20_000, 30, -1, false),
        // No time is left.
        (10_000, 20_000, 2, 0, true),
        (10_000, 20_000, 2, -1, true),
        // Numbers that no server should send.
        (-5, 20_000, 2, 20, true),
        (10, .max, 2, 20, true),
        (10, .min, 2, 20, false),
    ]

    @Test(arguments: cases)
    func `A file is given up when its rest misses the deadline at the rate so far`(
        received: Int, expected: Int, seconds: Double, secondsLeft: Double, isMissed: Bool
    ) {
        let pace = FetchPace(received: received, expected: expected, seconds: seconds)
        #expect(pace.misses(secondsLeft) == isMissed)
    }
}
