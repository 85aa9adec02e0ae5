import HTTPTypes
import MediaTypes
import NIOCore
import NIOHTTP1
import SafeArithmetic

/// Timeouts and the minimum transfer rate of a connection.
struct ConnectionRules: Sendable {
    var idle = TimeAmount.seconds(60)
    var linger = TimeAmount.milliseconds(Int64(clamping: Limits.lingerSeconds * 1000.0))
    var bodyBytesPerSecondMin = Limits.bodyBytesPerSecondMin

    /// Maps an IP address to the client that its connections count for; nil for addresses that are not counted.
    var client: @Sendable (String?) -> String? = ClientAddress.counted

    init(_ settings: ServiceSettings) {
        idle = .milliseconds(Int64(clamping: settings.idleConnectionSecondsMax * 1000.0))
        if settings.countsEveryAddress { client = { $0 } }
    }

    /// The interval of timeout checks: an eighth of `idle`, from 20 ms to 5 s.
    var tick: TimeAmount { .nanoseconds(min(max(idle.nanoseconds / 8, 20_000_000), 5_000_000_000)) }

    /// Whether a body is received more slowly than `bodyBytesPerSecondMin`, with `idle` as grace period.
    func isTooSlow(bytes: Int, since start: NIODeadline, now: NIODeadline) -> Bool {
        let allowed = Double(idle.nanoseconds) / 1e9 + Double(bytes) / bodyBytesPerSecondMin
        return Double((now - start).nanoseconds) / 1e9 > allowed
    }
}

/// When a connection last made progress, for each kind of wait.
struct ConnectionClock {
    /// When the connection became idle: no request is being read or answered.
    private(set) var idleSince = NIODeadline.now()
    /// Since when written bytes have been unread by the client; nil if there are none.
    var unreadSince: NIODeadline?
    private(set) var bodySince = NIODeadline.now()
    private(set) var lastByteAt = NIODeadline.now()
    private(set) var bodyBytes = 0

    mutating func markIdle(from now: NIODeadline) {
        idleSince = now
        // A body that continues after its response starts a new measurement.
        (bodySince, lastByteAt, bodyBytes) = (now, now, 0)
    }

    mutating func bodyBegan(at now: NIODeadline) {
        (bodySince, lastByteAt, bodyBytes) = (now, now, 0)
    }

    /// The time up to which the body arrived at the minimum rate or faster; never later than the last byte.
    func bodyProgress(bytesPerSecond: Double) -> NIODeadline {
        let end = bodySince + .nanoseconds(Int64(clamping: Double(bodyBytes) / bytesPerSecond * 1e9))
        return min(end, lastByteAt)
    }

    mutating func body(_ bytes: Int, at now: NIODeadline) {
        lastByteAt = now
        bodyBytes = bodyBytes.adding(clamping: bytes)
    }
}

/// The unanswered requests of a connection, in order: clients may pipeline requests.
struct PipelinedRequests {
    private struct Exchange {
        var isOld: Bool
        var closes: Bool
        var expects: Bool
        var isLast = false
    }

    private var open: [Exchange] = []
    /// Whether the latest request is incomplete.
    private(set) var isBodyOpen = false

    var isEmpty: Bool { open.isEmpty }

    /// Whether the only unanswered request is the one whose body is incomplete.
    var isBodyAlone: Bool { isBodyOpen && open.count == 1 }

    mutating func begin(_ head: HTTPRequestHead) {
        let isOld = (head.version.major, head.version.minor) < (1, 1)
        open.append(
            Exchange(
                isOld: isOld, closes: !head.isKeepAlive,
                expects: !isOld && head.headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" })
        )
        isBodyOpen = true
    }

    mutating func endBody() {
        isBodyOpen = false
    }

    /// Whether the client waits for `100 Continue`; true only once per request.
    mutating func takeExpectation() -> Bool {
        guard let first = open.first, first.expects, isBodyAlone else { return false }
        open[0].expects = false
        return true
    }

    /// The head of the response to the oldest request, with HTTP version and `Connection` header set.
    ///
    /// - Parameter isLast: whether the connection closes when all requests received so far are answered.
    mutating func answer(_ head: HTTPResponseHead, isLast: Bool) -> HTTPResponseHead {
        guard let first = open.first, head.status.code >= 200 else { return head }
        var head = head
        let isEnd = first.closes || isBodyAlone || (isLast && open.count == 1)
        open[0].isLast = isEnd
        if first.isOld { head.version = .http1_0 }
        let isUnframed = first.isOld && !head.headers.contains(name: "content-length")
        if isEnd || isUnframed {
            open[0].isLast = true
            head.headers.replaceOrAdd(name: "connection", value: "close")
        } else if first.isOld {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
        return head
    }

    /// Removes the oldest request, whose response is complete, and returns whether the connection closes now.
    mutating func endResponse() -> Bool {
        open.isEmpty || open.removeFirst().isLast
    }
}

extension Limits {
    /// Time for the client to read the last response before its connection is closed.
    static let lingerSeconds = 2.0
    /// The lowest average transfer rate of a body, in bytes per second; the slowest phone networks are faster.
    static let bodyBytesPerSecondMin = 1_000.0
}
