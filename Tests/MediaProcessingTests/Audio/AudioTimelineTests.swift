import Testing

@testable import MediaProcessing

@Suite struct AudioTimelineTests {
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

    @Test mutating func `A stream that begins late starts with silence`() {
        #expect(isSilence(timeline.place(at: 0.5, lasting: Self.run), 0.5))
        #expect(timeline.place(at: 0.52, lasting: Self.run) == .follows)
    }

    @Test mutating func `Audio before time zero is cut`() {
        #expect(isOverlap(timeline.place(at: -0.015, lasting: Self.run), 0.015))
        #expect(abs(timeline.end - 0.005) < 1e-9)
    }

    @Test mutating func `Jitter of timestamps is ignored`() {
        follow(from: 0, 10)
        for (index, jitter) in [0.015, -0.015, 0.06, 0.001, -0.05, 0.0].enumerated() {
            #expect(timeline.place(at: 0.2 + Double(index) * Self.run + jitter, lasting: Self.run) == .follows)
        }
    }

    @Test mutating func `A lasting offset is corrected once`() {
        follow(from: 0, 10)
        let placements = (0..<10).map { timeline.place(at: 0.24 + Double($0) * Self.run, lasting: Self.run) }
        #expect(placements.filter { isSilence($0, 0.04) }.count == 1)
        #expect(placements.filter { $0 == .follows }.count == 9)
    }

    @Test mutating func `A gap is filled with silence immediately`() {
        follow(from: 0, 10)
        #expect(isSilence(timeline.place(at: 1.2, lasting: Self.run), 1))
        #expect(timeline.place(at: 1.22, lasting: Self.run) == .follows)
    }

    @Test mutating func `An overlap is cut, across several runs if necessary`() {
        follow(from: 0, 20)
        let placements = (0..<12).map { timeline.place(at: 0.2 + Double($0) * Self.run, lasting: Self.run) }
        #expect(placements.prefix(10).allSatisfy { isOverlap($0, Self.run) || isOverlap($0, 0.02) })
        #expect(placements.last == .follows)
        #expect(abs(timeline.end - 0.44) < 1e-6)
    }

    @Test mutating func `A jump of timestamps is closed, forward and backward`() {
        follow(from: 0, 10)
        #expect(timeline.place(at: 95_443, lasting: Self.run) == .follows)
        #expect(timeline.place(at: 95_443.02, lasting: Self.run) == .follows)
        #expect(timeline.place(at: 3, lasting: Self.run) == .follows)
        #expect(abs(timeline.end - 0.26) < 1e-6)
    }

    @Test mutating func `Runs without timestamps follow each other`() {
        for _ in 0..<5 { #expect(timeline.place(at: nil, lasting: Self.run) == .follows) }
        #expect(abs(timeline.end - 0.1) < 1e-9)
    }
}

struct AudioCutTests {
    @Test func `A cut fades to silence`() {
        let cut = AudioCut(end: 1_000, fade: 400)
        #expect([0, 599].allSatisfy { cut.gain(at: $0) == 1 })
        #expect(abs(cut.gain(at: 800) - 0.5) < 0.001)
        #expect(cut.gain(at: 999) < 0.001)
        #expect(cut.gain(at: 1_000) == 0)
        #expect((600..<999).allSatisfy { cut.gain(at: $0) > cut.gain(at: $0 + 1) })
        #expect(AudioCut(end: 10, fade: 0).gain(at: 9) == 1)
    }
}
