public import NIOCore

/// Bytes on their way over one direction of a link: waiting for it, then on it, then there. A value, with its clock
/// passed in, in nanoseconds.
///
/// One quantum of a connection at a time is given to the link, so that connections which share it take turns.
public struct DelayLine {
    /// What comes out at the far end.
    public enum Arrival {
        case bytes(ByteBuffer)
        /// The sender has closed; after all its bytes.
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
        /// Since a time, behind what is on its way.
        case closed(at: Int64)
        case arrived
    }

    private let link: Link
    private let delay: Int64
    private var waiting: [Block] = []
    private var flights: [Flight] = []
    private var departedAt: Int64 = .min
    /// Nothing can have been sent before: the far end did not read, or the window was full.
    private var heldUntil: Int64 = .min
    private var ending = Ending.open
    public private(set) var waitingBytes = 0
    /// Of all that were ever offered: how many the link has taken.
    public private(set) var loadedBytes = 0
    private var flyingBytes = 0

    /// A receiver's window: 4 MB let a gigabit flow over a round trip of 60 ms.
    private static let windowBytes = 4_194_304
    /// After the machine slept this long or longer, what was not sent meanwhile is not sent in one burst.
    private static let catchUp: Int64 = 250_000_000

    public init(link: Link, delay: Int64) {
        self.link = link
        self.delay = delay
    }

    /// Bytes at the near end, which were there since a time.
    public mutating func offer(_ bytes: ByteBuffer, readyAt: Int64) {
        waitingBytes += bytes.readableBytes
        waiting.append(Block(bytes: bytes, readyAt: readyAt))
    }

    /// Nothing more comes at the near end.
    public mutating func close(at time: Int64) {
        if case .open = ending { ending = .closed(at: time) }
    }

    /// The far end did not read until now: the time is lost, as it is on a link.
    public mutating func resume(at now: Int64) {
        heldUntil = now
    }

    /// What has arrived by now, in its order.
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

    /// When there is something to do again; nil when only more bytes or a reader can change anything.
    public var nextEvent: Int64? {
        if flights.isEmpty, waiting.isEmpty { return endArrivesAt }
        let arrival = flights.first?.arrivesAt ?? .max
        guard let block = waiting.first, flyingBytes < Self.windowBytes else { return arrival }
        return min(arrival, max(departedAt, block.readyAt))
    }

    /// Everything goes: the connection has ended.
    public mutating func drop() {
        waiting = []
        flights = []
        waitingBytes = 0
        flyingBytes = 0
        ending = .arrived
    }

    /// When the end is there: nothing is in front of it, and it takes the way of all bytes.
    private var endArrivesAt: Int64? {
        guard waiting.isEmpty, flights.isEmpty, case .closed(let time) = ending else { return nil }
        return max(time, departedAt) + delay
    }

    /// Gives the link what its turn has come for.
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

    /// Takes off what has arrived; whether that made room for more.
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
