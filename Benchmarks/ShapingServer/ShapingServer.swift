import Foundation
import NIOCore
import NIOPosix
import Shaping

/// Serves files, or relays to a server, with the bandwidth and latency of phone networks; see `ShapingServer --help`.
@main
struct ShapingServer {
    static func main() async {
        let options: ServerOptions
        do {
            options = try ServerOptions(Array(CommandLine.arguments.dropFirst()))
        } catch {
            printError("\(error)")
            exit(2)
        }
        guard !options.wantsHelp else {
            print(ServerOptions.help)
            return
        }
        do {
            try await serve(options)
        } catch {
            printError("The server cannot listen: \(error)")
            exit(1)
        }
    }

    private static func serve(_ options: ServerOptions) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        var channels: [any Channel] = []
        for listener in options.listeners { channels.append(try await listener.bind(on: group)) }
        // Printed only when all ports listen: readers of these lines connect immediately.
        for (listener, channel) in zip(options.listeners, channels) {
            print("\(listener.profile.name) 127.0.0.1:\(channel.localAddress?.port ?? listener.port)")
        }
        fflush(nil)
        for channel in channels { try await channel.closeFuture.get() }
    }

    private static func printError(_ text: String) {
        FileHandle.standardError.write(Data("ShapingServer: \(text)\n".utf8))
    }
}
