import Foundation
import TestSupport

/// The targets of references in hostile files: a file and a server that detect every access.
final class HostileTraps: Sendable {
    /// The path of a text file.
    let file: String
    private let server: LoopbackServer
    private let watch: Int32

    init(in folder: TemporaryFolder) throws {
        // A playlist itself, so that a reader that opens it continues.
        file = try folder.write("#EXTM3U\n#EXTINF:1,\nsecret\n", to: "secret.txt")
        server = try LoopbackServer()
        watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard watch >= 0, inotify_add_watch(watch, file, UInt32(IN_OPEN | IN_ACCESS)) >= 0 else {
            throw TestError(description: "inotify: errno \(errno)")
        }
    }

    deinit { close(watch) }

    /// A URL that must not be requested.
    var address: String { server.url("/secret") }

    /// Whether the file was opened since the last call, or the URL was ever requested.
    func wereTouched() -> Bool {
        var events = [UInt8](repeating: 0, count: 4_096)
        return read(watch, &events, events.count) > 0 || !server.requests.isEmpty
    }
}
