import Dispatch
import FuzzSupport
import Glibc

/// A loopback server that responds to each request with the steps of a script.
///
/// One thread serves all connections. `begin` and `end` enclose one input; `end` returns when every connection is
/// closed, so that one input cannot affect the next.
public final class ScriptedPeer: @unchecked Sendable {
    /// An event to which a script responds.
    public struct Event: Sendable {
        public enum Kind: Sendable { case connected, request }

        public var kind: Kind
        /// The number of the connection within this input, from 0.
        public var connection: Int
        /// The number of earlier requests on this connection.
        public var earlierRequests: Int
        /// The request's lines; empty for HTTP/2, whose headers are not decoded.
        public var head: String
        /// The HTTP/2 stream; 0 for HTTP/1.
        public var stream: UInt32

        /// The value of a header of the request.
        public func header(_ name: String) -> String? {
            for line in head.split(separator: "\r\n").dropFirst() {
                let parts = line.split(separator: ":", maxSplits: 1)
                guard parts.count == 2, parts[0].lowercased() == name else { continue }
                return parts[1].drop { $0 == " " }.description
            }
            return nil
        }

        /// The request's method; GET for HTTP/2.
        public var method: Substring { head.split(separator: " ", maxSplits: 1).first ?? "GET" }

        /// The request's target; empty for HTTP/2.
        public var target: Substring {
            let words = head.split(separator: " ", maxSplits: 2)
            return words.count > 1 ? words[1] : ""
        }
    }

    /// The steps on a connection, performed in order.
    public enum Step: Sendable {
        /// Sends bytes, with one call when the socket accepts them.
        case bytes([UInt8])
        case pause(milliseconds: Int)
        /// Closes the connection normally.
        case close
        /// Shuts down sending, and continues to read.
        case finish
        /// Closes the connection with a reset.
        case reset
    }

    public typealias Script = (Event) -> [Step]

    public let port: UInt16
    private let listener: CInt
    /// A pipe that receives one byte per command.
    private let bell: CInt
    private let ringer: CInt
    /// Written before the byte in the pipe, and read after it.
    private var nextScript: Script?
    private let ended = DispatchSemaphore(value: 0)
    /// Used only by the thread.
    private var script: Script?
    private var connections: [Connection] = []
    private var connectionCount = 0

    private struct Connection {
        let descriptor: CInt
        let number: Int
        var input: [UInt8] = []
        var steps: ArraySlice<Step> = []
        var sent = 0
        var resumesAt: UInt64 = 0
        var requests = 0
        var bodyLeft = 0
        var heldRequest: Event?
        var isHTTP2 = false
        var isOver = false
        var hasFinished = false
    }

    public init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // Every address of 127.0.0.0/8.
        address.sin_addr.s_addr = 0
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isOpen = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                var length = size
                return bind(listener, name, size) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        precondition(isOpen, "there is a port on loopback")
        port = UInt16(bigEndian: address.sin_port)
        var ends: [CInt] = [-1, -1]
        precondition(pipe(&ends) == 0, "there is a pipe")
        (bell, ringer) = (ends[0], ends[1])
        signal(SIGPIPE, SIG_IGN)
        let context = Unmanaged.passRetained(self).toOpaque()
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            {
                if let context = $0 { Unmanaged<ScriptedPeer>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context)
        precondition(code == 0, "there is a thread")
    }

    /// Responds with this script from now on.
    public func begin(_ script: @escaping Script) {
        nextScript = script
        order()
    }

    /// Closes every connection; returns when all are closed.
    public func end() {
        nextScript = nil
        order()
    }

    private func order() {
        var byte: UInt8 = 0
        precondition(write(ringer, &byte, 1) == 1, "a pipe takes a byte")
        ended.wait()
    }

    // MARK: The thread

    private func run() {
        while true {
            var polled = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
            polled.append(pollfd(fd: script == nil ? -1 : listener, events: Int16(POLLIN), revents: 0))
            let now = Self.now
            var wait: Int32 = -1
            for connection in connections {
                var events = Int16(POLLIN)
                if let step = connection.steps.first {
                    if connection.resumesAt > now {
                        let left = Int32(connection.resumesAt - now)
                        wait = wait < 0 ? left : min(wait, left)
                    } else if case .bytes = step {
                        events |= Int16(POLLOUT)
                    } else {
                        wait = 0
                    }
                }
                polled.append(pollfd(fd: connection.descriptor, events: events, revents: 0))
            }
            _ = poll(&polled, nfds_t(polled.count), wait)
            if polled[0].revents != 0 { takeOrders() }
            guard script != nil else { continue }
            let count = min(connections.count, polled.count - 2)
            for index in 0..<count where polled[index + 2].revents & Int16(POLLIN | POLLERR | POLLHUP) != 0 {
                receive(index)
            }
            if polled[1].revents != 0 { accept() }
            for index in connections.indices { work(index) }
            for connection in connections where connection.isOver { close(connection.descriptor) }
            connections.removeAll(where: \.isOver)
        }
    }

    private static var now: UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

    private func takeOrders() {
        var byte: UInt8 = 0
        _ = Glibc.read(bell, &byte, 1)
        if nextScript == nil {
            // Connections that are not accepted yet are closed as well.
            while true {
                let descriptor = Glibc.accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                reset(descriptor)
            }
            for connection in connections { reset(connection.descriptor) }
            (connections, connectionCount) = ([], 0)
        }
        script = nextScript
        ended.signal()
    }

    /// Closes with a reset: sockets in TIME_WAIT would use up all ports within an hour.
    private func reset(_ descriptor: CInt) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    private func accept() {
        while connections.count < 64 {
            let descriptor = Glibc.accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            var yes: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
            var connection = Connection(descriptor: descriptor, number: connectionCount)
            connectionCount += 1
            let event = Event(
                kind: .connected, connection: connection.number, earlierRequests: 0, head: "", stream: 0)
            connection.steps = script.map { traced(event, $0(event))[...] } ?? []
            connections.append(connection)
        }
    }

    private func receive(_ index: Int) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connections[index].descriptor, &buffer, buffer.count, 0)
        if count > 0 {
            connections[index].input += buffer[..<count]
            read(index)
        } else if count == 0 || errno != EAGAIN {
            connections[index].isOver = true
        }
    }

    /// Performs all steps that do not block.
    private func work(_ index: Int) {
        let now = Self.now
        while !connections[index].isOver, connections[index].resumesAt <= now, let step = connections[index].steps.first
        {
            switch step {
            case .bytes(let bytes):
                guard !connections[index].hasFinished else { break }
                let start = connections[index].sent
                let count = bytes[start...].withUnsafeBytes { rest in
                    send(connections[index].descriptor, rest.baseAddress, rest.count, 0)
                }
                if count < 0 {
                    if errno == EAGAIN { return }
                    connections[index].isOver = true
                    return
                }
                connections[index].sent += count
                if connections[index].sent < bytes.count { return }
                connections[index].sent = 0
            case .pause(let milliseconds): connections[index].resumesAt = now + UInt64(milliseconds)
            case .close: connections[index].isOver = true
            case .finish:
                shutdown(connections[index].descriptor, Int32(SHUT_WR))
                connections[index].hasFinished = true
            case .reset:
                var option = linger(l_onoff: 1, l_linger: 0)
                setsockopt(
                    connections[index].descriptor, SOL_SOCKET, SO_LINGER, &option,
                    socklen_t(MemoryLayout<linger>.size))
                connections[index].isOver = true
            }
            connections[index].steps.removeFirst()
        }
    }

    // MARK: Requests

    private func read(_ index: Int) {
        let connection = connections[index]
        if connection.requests == 0, !connection.isHTTP2, connection.input.starts(with: HTTP2.clientPreface) {
            connections[index].isHTTP2 = true
            connections[index].input.removeFirst(HTTP2.clientPreface.count)
        }
        if connections[index].isHTTP2 { readFrames(index) } else { readHeads(index) }
    }

    private func readHeads(_ index: Int) {
        while true {
            if connections[index].bodyLeft > 0 {
                let taken = min(connections[index].bodyLeft, connections[index].input.count)
                connections[index].input.removeFirst(taken)
                connections[index].bodyLeft -= taken
                guard connections[index].bodyLeft == 0 else { return }
            }
            if let event = connections[index].heldRequest {
                connections[index].heldRequest = nil
                ask(index, event)
            }
            guard let end = Self.headEnd(connections[index].input) else {
                if connections[index].input.count > 200_000 { connections[index].isOver = true }
                return
            }
            let head = String(decoding: connections[index].input[..<end], as: UTF8.self)
            connections[index].input.removeFirst(end)
            let event = Event(
                kind: .request, connection: connections[index].number,
                earlierRequests: connections[index].requests, head: head, stream: 0)
            connections[index].requests += 1
            connections[index].bodyLeft = event.header("content-length").flatMap { Int($0) } ?? 0
            connections[index].heldRequest = event
            if event.header("expect") != nil {
                connections[index].steps.append(.bytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
            }
        }
    }

    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.count >= mark.count else { return nil }
        return (0...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
            .map { $0 + mark.count }
    }

    private func readFrames(_ index: Int) {
        while let frame = HTTP2.Frame(taking: &connections[index].input) {
            switch frame.kind {
            // HEADERS starts a request; its body is not awaited.
            case 1:
                connections[index].requests += 1
                ask(
                    index,
                    Event(
                        kind: .request, connection: connections[index].number,
                        earlierRequests: connections[index].requests - 1, head: "", stream: frame.stream))
            // SETTINGS and PING must be acknowledged.
            case 4 where frame.flags & 1 == 0:
                connections[index].steps.append(.bytes(HTTP2.frame(4, flags: 1, stream: 0, [])))
            case 6 where frame.flags & 1 == 0:
                connections[index].steps.append(.bytes(HTTP2.frame(6, flags: 1, stream: 0, frame.payload)))
            default: break
            }
        }
    }

    private func traced(_ event: Event, _ steps: [Step]) -> [Step] {
        guard Trace.isOn else { return steps }
        let place = "\(event.connection).\(event.earlierRequests) stream \(event.stream)"
        var text = "<<< \(event.kind) \(place)\n\(event.head)"
        for step in steps {
            guard case .bytes(let bytes) = step else {
                text += ">>> \(step)\n"
                continue
            }
            let start = bytes.prefix(400).map { 0x20...0x7E ~= $0 || $0 == 10 ? Character(.init($0)) : "." }
            text += ">>> \(bytes.count) bytes: \(String(start))\n"
        }
        Trace.show(text)
        return steps
    }

    private func ask(_ index: Int, _ event: Event) {
        guard let script else { return }
        for step in traced(event, script(event)) {
            if case .bytes(let bytes) = step, bytes.isEmpty { continue }
            connections[index].steps.append(step)
        }
    }
}
