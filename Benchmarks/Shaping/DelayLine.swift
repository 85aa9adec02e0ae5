public import NIOCore

/// Delays the bytes of one direction of a connection: queued, in flight on the link, then delivered.
///
/// Times are passed in by the caller, in nanoseconds. The link accepts one quantum per connection at a time, so that
/// connections share it fairly.
public struct DelayLine {
    /// An event at the far end.
    public enum Arrival {
        case bytes(ByteBuffer)
        /// End of the stream, after all bytes.
        case end
    }

    private struct Block {
        var bytes: ByteBuffer
        let readyAt: Int64
    }

    private struct Flight {
        let bytes: ByteBuffer
        let arrivesAt: Int64
    }

    private enum Ending {
        case open
        /// Closed at a time; the end follows the bytes in flight.
        case closed(at: Int64)
        case arrived
    }

    private let link: Link
    private let delay: Int64
    private var waiting: [Block] = []
    private var flights: [Flight] = []
    private var departedAt: Int64 = .min
    /// The earliest departure, because the far end did not read or the window was full until then.
    private var heldUntil: Int64 = .min
    private var ending = Ending.open
    public private(set) var waitingBytes = 0
    /// The total number of bytes that the link has accepted.
    public private(set) var loadedBytes = 0
    private var flyingBytes = 0

    /// The limit of bytes in flight: 4 MiB, enough for 1 Gbit/s with a round trip of 60 ms (3.75 MB one way).
    private static let windowBytes = 4_194_304
    /// The largest backlog in time: after a longer pause of the process, missed bytes are not sent in one burst.
    private static let catchUp: Int64 = 250_000_000

    public init(link: Link, delay: Int64) {
        self.link = link
        self.delay = delay
    }

    /// Queues bytes at the near end that were available at a time.
    public mutating func offer(_ bytes: ByteBuffer, readyAt: Int64) {
        waitingBytes += bytes.readableBytes
        waiting.append(Block(bytes: bytes, readyAt: readyAt))
    }

    /// Ends the stream at the near end.
    public mutating func close(at time: Int64) {
        if case .open = ending { ending = .closed(at: time) }
    }

    /// Reports that the far end did not read until now; as on a real link, that time is lost.
    public mutating func resume(at now: Int64) {
        heldUntil = now
    }

    /// Returns what has arrived by now, in order.
    public mutating func advance(to now: Int64) -> [Arrival] {
        var arrivals: [Arrival] = []
        repeat {
            load(now)
        } while unload(now, into: &arrivals)
        if let end = endArrivesAt, end <= now {
            ending = .arrived
            arrivals.append(.end)
        }
        return arrivals
    }

    /// The time of the next event; nil when only more bytes or a reader can cause one.
    public var nextEvent: Int64? {
        if flights.isEmpty, waiting.isEmpty { return endArrivesAt }
        let arrival = flights.first?.arrivesAt ?? .max
        guard let block = waiting.first, flyingBytes < Self.windowBytes else { return arrival }
        return min(arrival, max(departedAt, block.readyAt))
    }

    /// Discards everything, after the connection has ended.
    public mutating func drop() {
        waiting = []
        flights = []
        waitingBytes = 0
        flyingBytes = 0
        ending = .arrived
    }

    /// The arrival time of the end; nil while bytes are queued or in flight, or the stream is open.
    private var endArrivesAt: Int64? {
        guard waiting.isEmpty, flights.isEmpty, case .closed(let time) = ending else { return nil }
        return max(time, departedAt) + delay
    }

    /// Passes due bytes to the link.
    private mutating func load(_ now: Int64) {
        while let block = waiting.first, max(departedAt, block.readyAt) <= now, flyingBytes < Self.windowBytes {
            let readyAt = max(block.readyAt, departedAt, heldUntil, now - Self.catchUp)
            var bytes = block.bytes
            let length = min(bytes.readableBytes, link.quantumBytes)
            guard let part = bytes.readSlice(length: length) else { break }
            departedAt = link.departure(bytes: length, readyAt: readyAt)
            flights.append(Flight(bytes: part, arrivesAt: departedAt + delay))
            waitingBytes -= length
            loadedBytes += length
            flyingBytes += length
            if bytes.readableBytes > 0 { waiting[0].bytes = bytes } else { waiting.removeFirst() }
        }
    }

    /// Moves arrived bytes to `arrivals`; returns whether the full window opened again.
    private mutating func unload(_ now: Int64, into arrivals: inout [Arrival]) -> Bool {
        let wasFull = flyingBytes >= Self.windowBytes
        let count = flights.prefix { $0.arrivesAt <= now }.count
        for flight in flights.prefix(count) {
            flyingBytes -= flight.bytes.readableBytes
            arrivals.append(.bytes(flight.bytes))
        }
        flights.removeFirst(count)
        guard wasFull, flyingBytes < Self.windowBytes else { return false }
        heldUntil = now
        return true
    }
}
