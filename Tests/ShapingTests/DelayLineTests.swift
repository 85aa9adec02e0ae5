import NIOCore
import Testing

@testable import Shaping

/// One direction of a link with 8 Mbit/s and a delay of 50 ms, with a simulated clock.
@Suite struct DelayLineTests {
    private static let millisecond: Int64 = 1_000_000
    private let link = Link(bitsPerSecond: 8_000_000)

    private func line(_ link: Link? = nil) -> DelayLine {
        DelayLine(link: link ?? self.link, delay: 50 * Self.millisecond)
    }

    private func bytes(_ count: Int, _ value: UInt8 = 7) -> ByteBuffer {
        ByteBuffer(repeating: value, count: count)
    }

    private func count(_ arrivals: [DelayLine.Arrival]) -> Int {
        arrivals.reduce(0) { sum, arrival in
            if case .bytes(let bytes) = arrival { sum + bytes.readableBytes } else { sum }
        }
    }

    /// The number of bytes that arrive at each time, with a clock that advances from event to event.
    private func events(_ line: inout DelayLine, from start: Int64 = 0) -> [Int64: Int] {
        var events: [Int64: Int] = [:]
        _ = line.advance(to: start)
        while let time = line.nextEvent {
            let arrived = count(line.advance(to: time))
            if arrived > 0 { events[time / Self.millisecond] = arrived }
        }
        return events
    }

    @Test func `Bytes arrive after transmission time and delay`() {
        var line = line()
        line.offer(bytes(20_000), readyAt: 0)
        // The quantum is eight milliseconds of the rate.
        #expect(events(&line) == [58: 8_000, 66: 8_000, 70: 4_000])
    }

    @Test func `A late timer does not reduce the rate`() {
        var line = line()
        line.offer(bytes(100_000), readyAt: 0)
        _ = line.advance(to: 0)
        #expect(count(line.advance(to: 149 * Self.millisecond)) == 96_000)
        #expect(count(line.advance(to: 150 * Self.millisecond)) == 4_000)
        #expect(line.nextEvent == nil)
    }

    @Test func `Bytes arrive unchanged and in order`() {
        var line = line()
        for value in 0..<100 { line.offer(bytes(300, UInt8(value)), readyAt: 0) }
        var received = ByteBuffer()
        for case .bytes(var part) in line.advance(to: .max / 2) { received.writeBuffer(&part) }
        #expect(Array(received.readableBytesView) == (0..<100).flatMap { Array(repeating: UInt8($0), count: 300) })
    }

    @Test func `The end of the stream arrives after all bytes, with the same delay`() {
        var line = line()
        line.offer(bytes(1_000), readyAt: 0)
        line.close(at: 0)
        #expect(line.advance(to: 50 * Self.millisecond).isEmpty)
        #expect(line.nextEvent == 51 * Self.millisecond)
        let arrivals = line.advance(to: 51 * Self.millisecond)
        #expect(count(Array(arrivals.prefix(1))) == 1_000)
        guard case .end = arrivals.last else { return #expect(Bool(false), "no end") }
        #expect(line.nextEvent == nil)
    }

    @Test func `An end without bytes is delayed, too, and arrives once`() {
        var line = line()
        line.close(at: 0)
        #expect(line.nextEvent == 50 * Self.millisecond)
        #expect(line.advance(to: 50 * Self.millisecond).count == 1)
        line.close(at: 60 * Self.millisecond)
        #expect(line.advance(to: .max / 2).isEmpty)
    }

    @Test func `Time during which the receiver did not read is lost`() {
        var line = line()
        line.offer(bytes(16_000), readyAt: 0)
        line.resume(at: 200 * Self.millisecond)
        #expect(count(line.advance(to: 257 * Self.millisecond)) == 0)
        #expect(events(&line, from: 257 * Self.millisecond) == [258: 8_000, 266: 8_000])
    }

    @Test func `After the machine slept, at most a quarter of a second is caught up`() {
        var line = line()
        line.offer(bytes(1_000_000), readyAt: 0)
        // Ready for ten seconds, but advanced only now.
        #expect(count(line.advance(to: 10_000 * Self.millisecond)) <= 250_000)
    }

    @Test func `Connections that share a link get equal shares`() {
        let (first, second) = (UInt8(1), UInt8(2))
        var lines = [line(), line()]
        lines[0].offer(bytes(80_000, first), readyAt: 0)
        lines[1].offer(bytes(80_000, second), readyAt: 0)
        var arrived = [0, 0]
        for time in Int64(0)...210 {
            for index in lines.indices { arrived[index] += count(lines[index].advance(to: time * Self.millisecond)) }
            #expect(abs(arrived[0] - arrived[1]) <= 8_000)
        }
        #expect(arrived == [80_000, 80_000])
    }

    @Test func `The window limits the bytes in transit`() {
        var line = DelayLine(link: Link(bitsPerSecond: 1_000_000_000), delay: 1_000 * Self.millisecond)
        line.offer(bytes(20_000_000), readyAt: 0)
        for time in Int64(0)..<900 { _ = line.advance(to: time * Self.millisecond) }
        #expect(line.loadedBytes < 4_300_000)
        #expect(line.waitingBytes + line.loadedBytes == 20_000_000)
    }
}
