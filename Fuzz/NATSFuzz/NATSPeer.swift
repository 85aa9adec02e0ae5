import Dispatch
import FuzzSupport
import Glibc

/// A NATS server on loopback whose responses come from a `NATSStore`; one thread serves all connections.
final class NATSPeer: @unchecked Sendable {
    /// A marker that is not sent: ends the connection.
    static let closing: [UInt8] = [0, 0, 0]

    private struct Connection {
        let descriptor: CInt
        let number: Int
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []
        var isOver = false
    }

    let port: UInt16
    private let listener: CInt
    private let bell: CInt
    private let ringer: CInt
    /// Written before the byte in the pipe, and read after it.
    private var nextStore: NATSStore?
    private let ended = DispatchSemaphore(value: 0)
    private var store: NATSStore?
    private var connections: [Connection] = []
    private var connectionCount = 0

    init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isOpen = withUnsafeMutablePointer(to: &address) { [listener] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                return bind(listener, name, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, name, &length) == 0
            }
        }
        precondition(isOpen, "A loopback port must be available.")
        port = UInt16(bigEndian: address.sin_port)
        var ends: [CInt] = [-1, -1]
        precondition(pipe(&ends) == 0, "The pipe must be created.")
        (bell, ringer) = (ends[0], ends[1])
        signal(SIGPIPE, SIG_IGN)
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            {
                if let context = $0 { Unmanaged<NATSPeer>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(code == 0, "The thread must start.")
    }

    func begin(_ store: NATSStore) {
        nextStore = store
        order()
    }

    /// Closes every connection; returns when all are closed.
    func end() {
        nextStore = nil
        order()
    }

    private func order() {
        var byte: UInt8 = 0
        precondition(write(ringer, &byte, 1) == 1, "Writing to the pipe must succeed.")
        ended.wait()
    }

    // MARK: The thread

    private func run() {
        while true {
            var polled = [
                pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
                pollfd(fd: store == nil ? -1 : listener, events: Int16(POLLIN), revents: 0),
            ]
            polled += connections.map {
                pollfd(
                    fd: $0.descriptor, events: Int16(POLLIN) | ($0.output.isEmpty ? 0 : Int16(POLLOUT)), revents: 0)
            }
            _ = poll(&polled, nfds_t(polled.count), -1)
            if polled[0].revents != 0 {
                takeOrders()
                continue
            }
            for index in connections.indices where polled[index + 2].revents & Int16(POLLIN | POLLERR | POLLHUP) != 0 {
                receive(index)
            }
            if polled[1].revents != 0 { accept() }
            for index in connections.indices { flush(index) }
            for connection in connections where connection.isOver { reset(connection.descriptor) }
            connections.removeAll(where: \.isOver)
        }
    }

    private func takeOrders() {
        var byte: UInt8 = 0
        _ = read(bell, &byte, 1)
        if nextStore == nil {
            while true {
                let descriptor = Glibc.accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                reset(descriptor)
            }
            for connection in connections { reset(connection.descriptor) }
            (connections, connectionCount) = ([], 0)
        }
        store = nextStore
        ended.signal()
    }

    /// Closes with a reset: sockets in TIME_WAIT would use up all ports within an hour.
    private func reset(_ descriptor: CInt) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
    }

    private func accept() {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0, let store else { return }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        var yes: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, 4)
        var connection = Connection(descriptor: descriptor, number: connectionCount)
        connectionCount += 1
        connection.output = store.greeting(connection.number)[...]
        Trace.show(">>> \(connection.number) \(String(decoding: connection.output, as: UTF8.self))")
        connections.append(connection)
    }

    private func receive(_ index: Int) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connections[index].descriptor, &buffer, buffer.count, 0)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { connections[index].isOver = true }
            return
        }
        connections[index].input += buffer[..<count]
        while let command = takeCommand(index) { answer(connections[index].number, command) }
    }

    private typealias Command = (words: [Substring], headers: String, payload: [UInt8])

    /// The next line with its payload, if any; nil while incomplete.
    private func takeCommand(_ index: Int) -> Command? {
        let bytes = connections[index].input
        guard let end = bytes.firstIndex(of: 0x0A) else { return nil }
        let line = String(decoding: bytes[..<end], as: UTF8.self)
        let words = line.split { $0 == " " || $0 == "\r" || $0 == "\r\n" || $0 == "\t" }
        let name = words.first?.uppercased()
        guard name == "PUB" || name == "HPUB", let total = words.last.flatMap({ Int($0) }) else {
            connections[index].input.removeFirst(end + 1)
            return (words, "", [])
        }
        guard bytes.count >= end + 1 + total + 2 else { return nil }
        let content = Array(bytes[(end + 1)..<(end + 1 + total)])
        connections[index].input.removeFirst(end + 1 + total + 2)
        let length = name == "HPUB" ? words.dropLast().last.flatMap { Int($0) } ?? 0 : 0
        return (words, String(decoding: content.prefix(length), as: UTF8.self), Array(content.dropFirst(length)))
    }

    private func answer(_ number: Int, _ command: Command) {
        guard let store else { return }
        let payload = String(decoding: command.payload, as: UTF8.self)
        Trace.show("<<< \(number) \(command.words.joined(separator: " ")) \(payload)")
        for (receiver, bytes) in store.answer(number, command.words, command.headers, command.payload) {
            Trace.show(">>> \(receiver) \(String(decoding: bytes, as: UTF8.self))")
            guard let index = connections.firstIndex(where: { $0.number == receiver }) else { continue }
            if bytes == Self.closing {
                connections[index].isOver = true
            } else {
                connections[index].output += bytes
            }
        }
    }

    private func flush(_ index: Int) {
        guard !connections[index].output.isEmpty else { return }
        let output = connections[index].output
        let count = output.withUnsafeBytes { send(connections[index].descriptor, $0.baseAddress, $0.count, 0) }
        if count > 0 { connections[index].output = output.dropFirst(count) }
        if count < 0, errno != EAGAIN { connections[index].isOver = true }
    }
}
