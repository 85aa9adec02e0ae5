import NIOCore
import NIOHTTP1

/// What a request for a file gets: a head, and which bytes follow.
struct FileAnswer: Sendable {
    let head: HTTPResponseHead
    /// What follows the head; nil for nothing.
    let body: Range<Int>?

    /// Nothing but a sentence's worth of status.
    init(_ status: HTTPResponseStatus, _ request: HTTPRequestHead, _ fields: [(String, String)] = []) {
        var headers = HTTPHeaders(fields)
        if status != .notModified { headers.replaceOrAdd(name: "Content-Length", value: "0") }
        self.init(status, request, headers, nil)
    }

    init(_ file: ServedFile, _ request: HTTPRequestHead) {
        let fields = [("ETag", file.tag), ("Accept-Ranges", "bytes")]
        guard request.headers["If-None-Match"].allSatisfy({ $0 != file.tag && $0 != "*" }) else {
            self.init(.notModified, request, fields)
            return
        }
        var headers = HTTPHeaders(fields + [("Content-Type", file.mimeType)])
        let condition = request.headers.first(name: "If-Range")
        let asked = condition == nil || condition == file.tag ? request.headers.first(name: "Range") : nil
        var range = 0..<file.bytes
        switch ByteRange(asked, of: file.bytes) {
        case .all: break
        case .none:
            self.init(.rangeNotSatisfiable, request, [("Content-Range", "bytes */\(file.bytes)")])
            return
        case .part(let part):
            range = part
            headers.add(
                name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(file.bytes)")
        }
        headers.add(name: "Content-Length", value: "\(range.count)")
        let status: HTTPResponseStatus = headers.contains(name: "Content-Range") ? .partialContent : .ok
        self.init(status, request, headers, request.method == .HEAD ? nil : range)
    }

    private init(
        _ status: HTTPResponseStatus, _ request: HTTPRequestHead, _ headers: HTTPHeaders, _ body: Range<Int>?
    ) {
        var headers = headers
        if !request.isKeepAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        self.body = body
    }
}
