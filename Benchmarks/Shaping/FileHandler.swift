import Foundation
public import NIOCore
public import NIOHTTP1
import NIOPosix

/// Serves the files of a folder over HTTP, one request at a time; reads no more ahead than the link needs.
public final class FileHandler: ChannelInboundHandler {
    public typealias InboundIn = HTTPServerRequestPart
    public typealias OutboundOut = HTTPServerResponsePart

    private let folder: ServedFolder
    private let waitingBytesMax: Int
    private var request: HTTPRequestHead?
    private var sending: Sending?
    private var isAnswering = false
    /// Whether the client closed its side; the current request is still answered.
    private var isEnded = false

    private struct Sending {
        let file: ServedFile
        var range: Range<Int>
        /// Bytes written that the link has not accepted yet.
        var waitingBytes = 0
        var isReading = false
        let closes: Bool
    }

    private static let pieceBytes = 65_536

    public init(folder: ServedFolder, profile: LinkProfile) {
        self.folder = folder
        waitingBytesMax = profile.readAheadBytes
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end:
            guard let request else { return }
            self.request = nil
            answer(request, context)
        }
    }

    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event {
            isEnded = true
            if !isAnswering { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        isAnswering = true
        guard request.method == .GET || request.method == .HEAD else {
            return send(FileResponse(.methodNotAllowed, request, [("Allow", "GET, HEAD")]), nil, context)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (folder, target) = (folder, request.uri)
        NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) { folder.file(at: target) }
            .whenComplete { found in
                let (handler, context) = bound.value
                if let file = (try? found.get()) ?? nil {
                    handler.send(FileResponse(file, request), file, context)
                } else {
                    handler.send(FileResponse(.notFound, request), nil, context)
                }
            }
    }

    private func send(_ answer: FileResponse, _ file: ServedFile?, _ context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        let closes = answer.head.headers.contains(name: "Connection")
        guard let file, let range = answer.body else { return finish(context, closes: closes) }
        sending = Sending(file: file, range: range, closes: closes)
        advance(context)
    }

    private func advance(_ context: ChannelHandlerContext) {
        guard let state = sending, !state.isReading, state.waitingBytes < waitingBytesMax else { return }
        guard !state.range.isEmpty else {
            sending = nil
            return finish(context, closes: state.closes)
        }
        sending?.isReading = true
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (file, offset) = (state.file, state.range.lowerBound)
        let length = min(Self.pieceBytes, state.range.count)
        NIOThreadPool.singleton
            .runIfActive(eventLoop: context.eventLoop) { try file.piece(at: offset, bytes: length) }
            .whenComplete { piece in
                let (handler, context) = bound.value
                handler.pass(try? piece.get(), context)
            }
    }

    private func pass(_ piece: Data?, _ context: ChannelHandlerContext) {
        guard let state = sending else { return }
        guard let piece, !piece.isEmpty else {
            // The file was truncated: close, so that the client detects the missing bytes.
            sending = nil
            return context.close(promise: nil)
        }
        sending?.isReading = false
        sending?.waitingBytes += piece.count
        sending?.range = (state.range.lowerBound + piece.count)..<state.range.upperBound
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let bytes = context.channel.allocator.buffer(bytes: piece)
        context.write(wrapOutboundOut(.body(.byteBuffer(bytes)))).whenComplete { written in
            let (handler, context) = bound.value
            guard case .success = written else {
                handler.sending = nil
                return
            }
            handler.sending?.waitingBytes -= piece.count
            handler.advance(context)
        }
        advance(context)
    }

    private func finish(_ context: ChannelHandlerContext, closes: Bool) {
        isAnswering = false
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        if closes || isEnded { context.close(mode: .all, promise: nil) }
    }
}

/// The response to a request for a file: the head and the byte range of the body.
struct FileResponse: Sendable {
    let head: HTTPResponseHead
    /// The byte range of the file in the body; nil for no body.
    let body: Range<Int>?

    /// A response without a body.
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

/// A parsed `Range` header (RFC 9110, 14.1.2).
enum ByteRange: Hashable {
    /// The whole file: no range, several ranges, or an invalid one.
    case all
    case part(Range<Int>)
    /// Not satisfiable: past the end of the file.
    case none

    init(_ field: String?, of bytes: Int) {
        self = .all
        guard let field, field.hasPrefix("bytes=") else { return }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { 48...57 ~= $0 } }), !ends.allSatisfy(\.isEmpty)
        else { return }
        let (first, last) = (Int(ends[0]) ?? .max, Int(ends[1]) ?? .max)
        if ends[0].isEmpty {
            self = last > 0 && bytes > 0 ? .part(max(0, bytes - last)..<bytes) : .none
        } else if first <= last {
            self = first < bytes ? .part(first..<(min(last, bytes - 1) + 1)) : .none
        }
    }
}
