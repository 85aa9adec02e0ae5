import Glibc
import HTTPTypes
import NIOCore
import NIOHTTP1
import RichPush

extension ConnectionGuard {
    /// Looks whether the connection has stood still for too long.
    func look(context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        guard !isClosing else { return }
        if refusal != nil, exchanges.isEmpty { return tell(refusal, context: context) }
        // Bounded: times of one clock of ours.
        let isBehind = clock.unreadSince.map { now - $0 > rules.idle } ?? false
        // Bounded: times of one clock of ours.
        let isSilent = exchanges.isEmpty && now - clock.restingSince > rules.idle
        let isSlow =
            exchanges.isBodyAlone
            // Bounded: times of one clock of ours.
            && (now - clock.lastByteAt > rules.idle
                || rules.isTooSlow(bytes: clock.bodyBytes, since: clock.bodySince, now: now))
        guard isBehind || isSilent || isSlow else { return }
        if isBehind { dropUnread(context: context) }
        context.close(promise: nil)
    }

    /// Closes the connection for a new one. One that has begun to be answered meanwhile ends with its answer.
    func makeRoom(context: ChannelHandlerContext) {
        guard !isClosing else { return }
        let isUnread = clock.unreadSince != nil
        guard exchanges.isEmpty || exchanges.isBodyAlone || isUnread else {
            isQuiescing = true
            return
        }
        if isUnread { dropUnread(context: context) }
        context.close(promise: nil)
    }

    /// An answer has been written: on to the next request, or to the end.
    func answerEnded(context: ChannelHandlerContext) {
        let isLast = exchanges.endAnswer()
        clock.rest(from: .now())
        noteActivity()
        if isLast {
            closeGently(context: context)
        } else if exchanges.isEmpty, let fault {
            tell(fault, context: context)
        } else if exchanges.isEmpty, isQuiescing {
            closeGently(context: context)
        }
    }

    /// The kernel would keep what the client does not read, and try to send it for minutes after the connection's end.
    private func dropUnread(context: ChannelHandlerContext) {
        (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            // Without it, the kernel's memory is given back later.
            .whenFailure { _ in }
    }

    /// Answers a request that is not passed on, after those before it.
    func refuse(_ problem: Problem, context: ChannelHandlerContext) {
        fault = problem
        if exchanges.isEmpty { tell(problem, context: context) }
    }

    /// Writes an answer that no handler makes, the last one of the connection.
    func tell(_ problem: Problem?, context: ChannelHandlerContext) {
        guard let problem else { return }
        let body = problem.body
        var headers = HTTPHeaders([
            ("Content-Type", Problem.mediaType), ("Content-Length", "\(body.readableBytes)"), ("Connection", "close"),
            ("Cache-Control", "no-store"),
        ])
        for field in problem.fields { headers.add(name: field.name.rawName, value: field.value) }
        let status = HTTPResponseStatus(statusCode: problem.status)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        closeGently(context: context)
    }

    /// Closes our side when all is sent, and the other side when the client has closed its own, or has had its time:
    /// closed at once, a client that is still sending would lose the answer with its connection.
    func closeGently(context: ChannelHandlerContext) {
        isClosing = true
        ticks?.cancel()
        context.close(mode: .output, promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: rules.linger) { bound.value.close(promise: nil) }
        context.read()
    }
}

extension Problem {
    /// A request that is no HTTP, or has too many headers.
    static func unreadable(_ error: any Error) -> Problem {
        if case HTTPParserError.headerOverflow = error {
            return Problem(
                .requestTooLarge, "The request's header is longer than \(Limits.requestHeaderBytesMax) bytes.",
                status: 431)
        }
        return Problem(.requestInvalid, "The request is not HTTP/1.1.")
    }

    static func tooManyConnections(_ limit: Int) -> Problem {
        Problem(.queueFull, "There are already \(limit) connections; come back later, or use fewer.").retrying(after: 1)
    }

    /// To who comes while running jobs are finished.
    static let stopping = Problem(
        .queueUnavailable, "The service is stopping; come back later, or ask another one of its kind."
    ).retrying(after: 5)

    static func tooManyConnectionsOfAddress(_ limit: Int) -> Problem {
        Problem(.queueFull, "This address already has \(limit) connections; come back later, or use fewer.")
            .retrying(after: 1)
    }
}
