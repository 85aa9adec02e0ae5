import Foundation
public import NIOCore
public import NIOHTTP1
import NIOPosix

/// Answers requests for the files of a folder: one at a time, and no more of it in memory than is to wait for the link.
public final class FileHandler: ChannelInboundHandler {
    public typealias InboundIn = HTTPServerRequestPart
    public typealias OutboundOut = HTTPServerResponsePart

    private let folder: ServedFolder
    private let waitingBytesMax: Int
    private var request: HTTPRequestHead?
    private var sending: Sending?
    private var isAnswering = false
    /// The phone has said its last word: what it asked for is still answered.
    private var isEnded = false

    private struct Sending {
        let file: ServedFile
        var range: Range<Int>
        /// What the link has not taken yet.
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
            return send(FileAnswer(.methodNotAllowed, request, [("Allow", "GET, HEAD")]), nil, context)
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (folder, target) = (folder, request.uri)
        NIOThreadPool.singleton.runIfActive(eventLoop: context.eventLoop) { folder.file(at: target) }
            .whenComplete { found in
                let (handler, context) = bound.value
                if let file = (try? found.get()) ?? nil {
                    handler.send(FileAnswer(file, request), file, context)
                } else {
                    handler.send(FileAnswer(.notFound, request), nil, context)
                }
            }
    }

    private func send(_ answer: FileAnswer, _ file: ServedFile?, _ context: ChannelHandlerContext) {
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
            // The file became shorter under its length: the reader must not take this for all of it.
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
