import Testing

@testable import MediaProcessing

@Suite struct SoundTimelineTests {
    private static let run = 0.02
    private var timeline = AudioTimeline(jumpMin: 5)

    private mutating func follow(from time: Double, _ count: Int) {
        for index in 0..<count { _ = timeline.place(at: time + Double(index) * Self.run, lasting: Self.run) }
    }

    private func isSilence(_ placement: AudioTimeline.Placement, _ seconds: Double) -> Bool {
        if case .silence(let gap) = placement { return abs(gap - seconds) < 1e-9 }
        return false
    }

    private func isOverlap(_ placement: AudioTimeline.Placement, _ seconds: Double) -> Bool {
        if case .overlap(let part) = placement { return abs(part - seconds) < 1e-9 }
        return false
    }

    @Test mutating func `a stream that begins later begins with silence`() {
        #expect(isSilence(timeline.place(at: 0.5, lasting: Self.run), 0.5))
        #expect(timeline.place(at: 0.52, lasting: Self.run) == .follows)
    }

    @Test mutating func `what lies before the beginning is cut`() {
        #expect(isOverlap(timeline.place(at: -0.015, lasting: Self.run), 0.015))
        #expect(abs(timeline.end - 0.005) < 1e-9)
    }

    @Test mutating func `jitter is let be`() {
        follow(from: 0, 10)
        for (index, jitter) in [0.015, -0.015, 0.06, 0.001, -0.05, 0.0].enumerated() {
            #expect(timeline.place(at: 0.2 + Double(index) * Self.run + jitter, lasting: Self.run) == .follows)
        }
    }

    @Test mutating func `what stays off is believed`() {
        follow(from: 0, 10)
        let placements = (0..<10).map { timeline.place(at: 0.24 + Double($0) * Self.run, lasting: Self.run) }
        #expect(placements.filter { isSilence($0, 0.04) }.count == 1)
        #expect(placements.filter { $0 == .follows }.count == 9)
    }

    @Test mutating func `a gap is filled at once`() {
        follow(from: 0, 10)
        #expect(isSilence(timeline.place(at: 1.2, lasting: Self.run), 1))
        #expect(timeline.place(at: 1.22, lasting: Self.run) == .follows)
    }

    @Test mutating func `an overlap is cut, over several runs if need be`() {
        follow(from: 0, 20)
        let placements = (0..<12).map { timeline.place(at: 0.2 + Double($0) * Self.run, lasting: Self.run) }
        #expect(placements.prefix(10).allSatisfy { isOverlap($0, Self.run) || isOverlap($0, 0.02) })
        #expect(placements.last == .follows)
        #expect(abs(timeline.end - 0.44) < 1e-6)
    }

    @Test mutating func `a jump is closed, forward and backward`() {
        follow(from: 0, 10)
        #expect(timeline.place(at: 95_443, lasting: Self.run) == .follows)
        #expect(timeline.place(at: 95_443.02, lasting: Self.run) == .follows)
        #expect(timeline.place(at: 3, lasting: Self.run) == .follows)
        #expect(abs(timeline.end - 0.26) < 1e-6)
    }

    @Test mutating func `without times runs follow each other`() {
        for _ in 0..<5 { #expect(timeline.place(at: nil, lasting: Self.run) == .follows) }
        #expect(abs(timeline.end - 0.1) < 1e-9)
    }
}
