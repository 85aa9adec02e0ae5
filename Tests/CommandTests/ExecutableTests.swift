import Foundation
import TestSupport
import Testing

/// Two executables: `attachprep` has the network and no decoder; it finds `attachprep-media` beside it.
@Suite(.timeLimit(.minutes(2))) struct ExecutableTests {
    let bench: CommandBench

    init() throws {
        bench = try CommandBench()
    }

    static let decoders = ["libvips", "libavformat", "libavcodec", "libavutil", "libswscale", "libmagic"]

    private func libraries(_ program: String) async throws -> String {
        try await RunCommand("ldd", [program]).run().text
    }

    @Test func `attachprep links no decoder`() async throws {
        let linked = try await libraries(BuiltBinary.attachprep())
        #expect(linked.contains("libcurl"))
        for library in Self.decoders { #expect(!linked.contains(library), "\(library)") }
    }

    @Test func `attachprep-media links the decoders and no network library`() async throws {
        let program = try BuiltBinary.attachprepMedia()
        let direct = try await RunCommand("objdump", ["-p", program]).run().text
        for library in Self.decoders { #expect(direct.contains("NEEDED               \(library).so"), "\(library)") }
        #expect(!direct.contains("libcurl"))
    }

    @Test func `ATTACHPREP_MEDIA sets another path of the media executable`() async throws {
        let path = bench.folder.path("elsewhere")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: BuiltBinary.attachprepMedia())
        let result = try await bench.command(
            ["doctor", "--format", "json"], environment: ["ATTACHPREP_MEDIA": path]
        ).run()
        #expect(result.exitCode == 0)
        #expect(result.text.contains("\"mediaExecutable\":\"\(path)\""))
    }

    @Test(arguments: ["prepare", "inspect"])
    func `A missing media executable is reported with its path and the remedy`(subcommand: String) async throws {
        let result = try await bench.command(
            [subcommand, SourceTree.sample("grid.jpg")], environment: ["ATTACHPREP_MEDIA": "/nowhere/media"]
        ).run()
        #expect(result.exitCode == 1)
        #expect(result.text == "")
        #expect(result.errorText.contains("/nowhere/media") && result.errorText.contains("ATTACHPREP_MEDIA"))
        #expect(try bench.folder.contents() == ["tmp"])
    }

    @Test func `The media executable is found beside attachprep and in libexec`() async throws {
        for media in ["one/bin/attachprep-media", "two/libexec/attachprep-media"] {
            let root = String(media.prefix { $0 != "/" })
            for folder in ["bin", "libexec"] { try bench.folder.makeFolder("\(root)/\(folder)") }
            try Self.link(BuiltBinary.attachprep(), to: bench.folder.path("\(root)/bin/attachprep"))
            try Self.link(BuiltBinary.attachprepMedia(), to: bench.folder.path(media))
            var command = try bench.command(["doctor"])
            command.program = bench.folder.path("\(root)/bin/attachprep")
            let result = try await command.run()
            #expect(result.exitCode == 0, "\(media): \(result.text)")
        }
    }

    /// A hard link, because a symbolic link would be resolved to its target's folder; a copy across file systems.
    private static func link(_ path: String, to target: String) throws {
        do {
            try FileManager.default.linkItem(atPath: path, toPath: target)
        } catch {
            try FileManager.default.copyItem(atPath: path, toPath: target)
        }
    }
}
