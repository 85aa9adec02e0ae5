import Foundation
import Synchronization

/// A real HTTP/1.1 server on a loopback address, for tests: as hostile as its responses make it.
///
/// ```swift
/// let server = try LoopbackServer()
/// server.serve("/cat.jpg", .body(image, type: "image/jpeg"))
/// server.serve("/slow") { _ in LoopbackResponse([.hang]) }
/// ```
///
/// Every connection has its own thread; no step waits for a fixed time except `drip`.
public final class LoopbackServer: Sendable {
    public typealias Handler = @Sendable (LoopbackRequest) -> LoopbackResponse

    public let address: String
    public let port: Int
    private let state: LoopbackState

    /// - Parameters:
    ///   - address: any of 127.0.0.0/8.
    ///   - port: 0 chooses a free one.
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

    /// The URL of a path, for example "http://127.0.0.1:40123/cat.jpg".
    public func url(_ path: String, host: String? = nil) -> String { "http://\(host ?? address):\(port)\(path)" }

    /// Sends the same response to every request for a path.
    public func serve(_ path: String, _ answer: LoopbackResponse) {
        serve(path) { _ in answer }
    }

    /// Sends the handler's response to each request for a path; `request.number` counts them.
    public func serve(_ path: String, _ handler: @escaping Handler) {
        state.handle(path, handler)
    }

    /// Sends one response after the other to the requests for a path; the last response is repeated.
    public func serve(_ path: String, inTurn responses: [LoopbackResponse]) {
        serve(path) { request in responses[min(request.number, responses.count) - 1] }
    }

    /// Performs these steps on every new connection, before reading a request.
    public func greet(_ answer: LoopbackResponse) {
        state.greet(answer)
    }

    /// Serves the files of a folder, by name, with the type of their extension.
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

    /// Bytes that were sent so far, those still in transit included.
    public var bytesSent: Int { state.bytesSent }

    /// How many connections are open now.
    public var openConnectionCount: Int { state.openConnectionCount }

    /// Waits for a condition of the server, such as a number of requests; returns early when the task is cancelled.
    ///
    /// Checked after every request and whenever a connection opens or closes.
    public func until(_ condition: @escaping @Sendable (LoopbackServer) -> Bool) async {
        await state.until { [unowned self] in condition(self) }
    }

    /// Removes all handlers and recorded requests: for a server that several tests use one after the other.
    public func reset() {
        state.reset()
    }

    /// Ends every connection; hanging responses end too.
    public func stop() {
        state.stop()
    }

    private static let types = [
        "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
        "heic": "image/heic", "avif": "image/avif", "mp4": "video/mp4", "mov": "video/quicktime", "webm": "video/webm",
        "mp3": "audio/mpeg", "m4a": "audio/mp4", "wav": "audio/wav", "html": "text/html", "json": "application/json",
    ]
}
