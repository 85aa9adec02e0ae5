import Foundation
import Testing

@testable import Curl

/// After which responses a connection is reusable, and which transfer codings end a transfer.
struct ResponseFramingTests {
    private func read(_ head: String) -> (framing: ResponseFraming, isAccepted: Bool) {
        var framing = ResponseFraming()
        for line in head.split(separator: "\n", omittingEmptySubsequences: false) {
            let bytes = Array("\(line)\r\n".utf8)
            guard bytes.withUnsafeBytes({ framing.read($0) }) else { return (framing, false) }
        }
        return (framing, true)
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\nContent-Length: 4\n", "HTTP/1.1 404 No\nContent-Length: 0004\n",
        "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n", "HTTP/1.1 200 OK\nTRANSFER-ENCODING:Chunked \n",
        "HTTP/1.1 302 Found\nLocation: /x\nContent-Length: 9\n", "HTTP/2 304 \n", "HTTP/2 200 \n",
    ])
    func `A connection is reusable after an unambiguous response`(head: String) {
        let (framing, isAccepted) = read(head)
        #expect(isAccepted && framing.allowsReuse(after: .get))
    }

    @Test(arguments: [
        "HTTP/1.1 304 Same\n", "HTTP/1.1 304 Same\nContent-Length: 9\n", "HTTP/1.1 204 None\n",
        "HTTP/1.1 205 Reset\nContent-Length: 9\n", "HTTP/1.1 200 OK\nContent-Length: 0\n",
        "HTTP/1.1 200 OK\nContent-Length: 00\n", "HTTP/1.1 200 OK\n", "HTTP/1.0 200 OK\nContent-Length: 4\n",
        "HTTP/1.1 200 OK\nContent-Length: 4\nContent-Length: 4\n", "HTTP/1.1 200 OK\nContent-Length: 4, 4\n",
        "HTTP/1.1 200 OK\nContent-Length: 4\n 5\n", "HTTP/1.1 200 OK\nContent-Length: +4\n",
        "HTTP/1.1 200 OK\nContent-Length: 4\nTransfer-Encoding: chunked\n",
        "HTTP/1.1 100 Go on\n\nHTTP/1.1 200 OK\nContent-Length: 4\n",
        "HTTP/1.1 103 Hints\n\nHTTP/1.1 200 OK\nContent-Length: 4\n", "nonsense\nContent-Length: 4\n",
        "HTTP/1.1 200 OK\nContent-Length: 4",
    ])
    func `After any other response the connection is closed`(head: String) {
        let (framing, isAccepted) = read(head)
        #expect(isAccepted && !framing.allowsReuse(after: .get))
    }

    @Test func `After a HEAD the connection is closed`() {
        #expect(!read("HTTP/1.1 200 OK\nContent-Length: 4\n").framing.allowsReuse(after: .head))
    }

    @Test(arguments: [
        "gzip", "gzip, chunked", "chunked, gzip", "chunked, chunked", "chunked\nTransfer-Encoding: chunked", "",
        "identity",
        "chunked;q=1", "chunked\n gzip", "\tgzip", "chunked,", "chunked\u{0}, gzip",
    ])
    func `A transfer coding other than a single chunked ends the transfer`(value: String) {
        #expect(!read("HTTP/1.1 200 OK\nTransfer-Encoding: \(value)\n").isAccepted)
        #expect(!read("HTTP/1.1 200 OK\nX: y\ntransfer-encoding:\(value)\n").isAccepted)
    }

    @Test func `Trailer fields do not affect the framing`() {
        #expect(read("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nTransfer-Encoding: gzip\n").isAccepted)
    }
}
