import Foundation
import TestSupport

/// What hostile files point to: a file that tells when it is opened, and a server that tells who came.
final class HostileTraps: Sendable {
    /// The path of a text file.
    let file: String
    private let server: LoopbackServer
    private let watch: Int32

    init(in folder: TemporaryFolder) throws {
        // A playlist of its own, so that a reader that takes it goes on.
        file = try folder.write("#EXTM3U\n#EXTINF:1,\nsecret\n", to: "secret.txt")
        server = try LoopbackServer()
        watch = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard watch >= 0, inotify_add_watch(watch, file, UInt32(IN_OPEN | IN_ACCESS)) >= 0 else {
            throw FactMissing(description: "inotify: errno \(errno)")
        }
    }

    deinit { close(watch) }

    /// An address that must not be visited.
    var address: String { server.url("/secret") }

    /// Whether the file was opened or the address visited since it was asked last.
    func wereTouched() -> Bool {
        var events = [UInt8](repeating: 0, count: 4_096)
        return read(watch, &events, events.count) > 0 || !server.requests.isEmpty
    }
}
