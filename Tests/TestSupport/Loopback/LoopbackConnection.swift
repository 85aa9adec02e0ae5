import Foundation

/// One connection of a loopback server: reads requests, performs the steps of the responses.
struct LoopbackConnection {
    let number: Int
    let socket: LoopbackSocket
    let server: LoopbackState

    /// Returns when the connection has ended.
    func run() {
        var pending = Data()
        for step in server.greeting?.steps ?? [] {
            guard perform(step, &pending) else { return }
        }
        while let head = readHead(&pending) {
            guard let response = response(to: head, &pending) else { return }
            for step in response.steps {
                guard perform(step, &pending) else { return }
            }
        }
    }

    private func readHead(_ pending: inout Data) -> String? {
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let found = pending.range(of: end) {
                defer { pending = Data(pending[found.upperBound...]) }
                return String(decoding: pending[..<found.lowerBound], as: UTF8.self)
            }
            guard let more = socket.receive() else { return nil }
            pending += more
            // A client that begins with a TLS handshake has the wrong URL.
            guard pending.first != 0x16 else {
                _ = socket.send(Data("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
                return nil
            }
        }
    }

    private func readBody(_ count: Int, _ pending: inout Data) -> Data? {
        while pending.count < count {
            guard let more = socket.receive() else { return nil }
            pending += more
        }
        defer { pending = Data(pending.dropFirst(count)) }
        return Data(pending.prefix(count))
    }

    private func response(to head: String, _ pending: inout Data) -> LoopbackResponse? {
        var lines = head.components(separatedBy: "\r\n")
        let requestLine = lines.removeFirst().split(separator: " ")
        guard requestLine.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers[line[..<colon].lowercased()] = value
        }
        // curl would wait a second for this response.
        if headers["expect"] == "100-continue" { _ = socket.send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard let body = readBody(length, &pending) else { return nil }
        return server.response(
            to: LoopbackState.UnnumberedRequest(
                method: String(requestLine[0]), target: String(requestLine[1]), headers: headers, body: body,
                connection: number))
    }

    private func send(_ data: Data) -> Bool {
        defer { server.count(bytesSent: data.count) }
        return socket.send(data)
    }

    /// Performs one step; false when the connection has ended.
    private func perform(_ step: LoopbackResponse.Step, _ pending: inout Data) -> Bool {
        switch step {
        case .send(let data): return send(data)
        case .drip(let data, let pause):
            return data.allSatisfy { socket.send(Data([$0])) && !socket.isClosed(within: pause) }
        case .receive(let isEnough):
            while !isEnough(pending) {
                guard let more = socket.receive() else { return false }
                pending += more
            }
            pending = Data()
            return true
        case .sendForever(let data):
            while send(data) {}
            return false
        case .hang:
            socket.waitUntilClosed()
            return false
        case .wait(let gate):
            gate.wait { server.isStopped || socket.isClosed }
            return !server.isStopped
        case .open(let gate):
            gate.open()
            return true
        case .close: return false
        case .reset:
            socket.resetOnClose()
            return false
        }
    }
}
