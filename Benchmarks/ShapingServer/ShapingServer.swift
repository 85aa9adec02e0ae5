import Foundation
import NIOCore
import NIOPosix
import Shaping

/// Files, or another server, as phones on slow networks see them: `ShapingServer --help` says how. SIGTERM ends it.
@main
struct ShapingServer {
    static func main() async {
        let options: ServerOptions
        do {
            options = try ServerOptions(Array(CommandLine.arguments.dropFirst()))
        } catch {
            complain("\(error)")
            exit(2)
        }
        guard !options.wantsHelp else {
            print(ServerOptions.help)
            return
        }
        do {
            try await serve(options)
        } catch {
            complain("The server cannot listen: \(error)")
            exit(1)
        }
    }

    private static func serve(_ options: ServerOptions) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        var channels: [any Channel] = []
        for listener in options.listeners { channels.append(try await listener.bind(on: group)) }
        // Only when all of them listen: who reads these lines connects.
        for (listener, channel) in zip(options.listeners, channels) {
            print("\(listener.profile.name) 127.0.0.1:\(channel.localAddress?.port ?? listener.port)")
        }
        fflush(nil)
        for channel in channels { try await channel.closeFuture.get() }
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("ShapingServer: \(text)\n".utf8))
    }
}
