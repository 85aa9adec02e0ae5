import HTTPTypes
import NIOHTTP1

/// The requests of a connection that are not answered yet, in their order: clients may send several ahead.
struct ExchangeOrder {
    private struct Exchange {
        var isOld: Bool
        var closes: Bool
        var expects: Bool
        var isLast = false
    }

    private var open: [Exchange] = []
    /// The latest request is not all there.
    private(set) var isBodyOpen = false

    var isEmpty: Bool { open.isEmpty }

    /// Whether the request that is being answered is the one whose body is still coming.
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

    /// Whether the client waits to be told to send its body; it is told once.
    mutating func takeExpectation() -> Bool {
        guard let first = open.first, first.expects, isBodyAlone else { return false }
        open[0].expects = false
        return true
    }

    /// The head of the answer to the oldest request, with what it says of the connection's future.
    ///
    /// - Parameter isLast: whether the connection ends when all requests so far are answered.
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

    /// Whether the connection ends with the answer that has just ended.
    mutating func endAnswer() -> Bool {
        open.isEmpty || open.removeFirst().isLast
    }
}
