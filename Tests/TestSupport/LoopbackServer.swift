import Foundation
import Synchronization

/// A real HTTP/1.1 server on a loopback address, for tests: as hostile as its answers make it.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.serve("/cat.jpg", .body(picture, type: "image/jpeg"))
/// server.serve("/slow") { _ in LoopbackAnswer([.hang]) }
/// ```
///
/// Every connection has a thread of its own; nothing here waits for time to pass.
public final class LoopbackServer: Sendable {
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackAnswer

    public let address: String
    public let port: Int
    private let state: LoopbackState

    /// - Parameters:
    ///   - address: any of 127.0.0.0/8.
    ///   - port: 0 takes a free one.
    public init(address: String = "127.0.0.1", port: Int = 0) throws {
        let listener = try LoopbackSocket.listen(address: address, port: port)
        self.address = address
        self.port = try listener.localPort()
        state = LoopbackState(listener)
        state.start()
    }

    deinit {
        state.stop()
    }

    /// The address of a path, such as "http://127.0.0.1:40123/cat.jpg".
    public func url(_ path: String, host: String? = nil) -> String { "http://\(host ?? address):\(port)\(path)" }

    /// Answers every request to a path in the same way.
    public func serve(_ path: String, _ answer: LoopbackAnswer) {
        serve(path) { _ in answer }
    }

    /// Answers requests to a path as the handler says; `request.number` counts them.
    public func serve(_ path: String, _ handler: @escaping Handler) {
        state.handle(path, handler)
    }

    /// Answers one request to a path after the other; the last answer stays.
    public func serve(_ path: String, inTurn answers: [LoopbackAnswer]) {
        serve(path) { request in answers[min(request.number, answers.count) - 1] }
    }

    /// Does this on every new connection, before anything the client says is read as a request.
    public func greet(_ answer: LoopbackAnswer) {
        state.greet(answer)
    }

    /// Serves the files of a folder, by name, with the type that their extension says.
    public func serve(folder: URL) throws {
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            let type = LoopbackServer.types[file.pathExtension.lowercased()] ?? "application/octet-stream"
            serve("/\(file.lastPathComponent)") { _ in
                guard let body = try? Data(contentsOf: file) else { return .status(404) }
                return .body(body, type: type)
            }
        }
    }

    /// Every request so far, in order of arrival.
    public var requests: [LoopbackRequest] { state.requests }

    /// Every request to one path so far.
    public func requests(to path: String) -> [LoopbackRequest] { requests.filter { $0.path == path } }

    /// How many connections were accepted so far.
    public var connectionCount: Int { state.connectionCount }

    /// Bytes that were taken off its hands so far, those still under way included.
    public var bytesSent: Int { state.bytesSent }

    /// How many connections are open now.
    public var openConnectionCount: Int { state.openConnectionCount }

    /// Waits for a fact about the server, such as a number of requests; returns early when the task is cancelled.
    ///
    /// Looked at again after every request and every connection that comes or goes.
    public func until(_ isSo: @escaping @Sendable (LoopbackServer) -> Bool) async {
        await state.until { [unowned self] in isSo(self) }
    }

    /// Forgets its answers and the requests so far: for a server that several tests use one after the other.
    public func forget() {
        state.forget()
    }

    /// Ends every connection; a hanging answer ends too.
    public func stop() {
        state.stop()
    }

    private static let types = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "avif": "image/avif", "mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav", "html": "text/html", "json": "application/json",
    ]
}
