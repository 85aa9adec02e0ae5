import Foundation
import TestSupport
import Testing

/// Files that are valid in two formats: name and type follow the content, and encoded results contain only the media.
/// Unchanged results keep all bytes, because phones append second images.
@Suite(.timeLimit(.minutes(2))) struct PolyglotTests {
    let hostile: HostileBench

    init() throws {
        hostile = try HostileBench()
    }

    private static let page = Array("<html><script>alert(document.domain)</script></html>".utf8)
    private static let script = Array("*/=1;alert(1)//".utf8)
    private static let program = Array("<?php system($_GET['x']); ?>".utf8)

    private static func sample(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: SourceTree.sample(name))))
    }

    private static func behind(_ name: String, _ sample: String, _ outcome: String, _ tail: [UInt8]) -> HostileFile {
        HostileFile(name, [outcome]) { _ in try self.sample(sample) + tail }
    }

    private static let archive = Array(HandmadeMedia.zip)

    @Test func `An image with appended data is delivered unchanged, as an image`() async throws {
        let files = [
            Self.behind("archive.zip", "grid.jpg", "passed", Self.archive),
            Self.behind("archive.jar", "grid.gif", "passed", Self.archive),
            Self.behind("script.js", "grid.gif", "passed", Self.script),
            Self.behind("page.html", "grid.png", "passed", Self.page),
            Self.behind("program.php", "grid.jpg", "passed", Self.program),
        ]
        let manifests = try await hostile.run(files)
        let types = [
            "archive.zip": "image/jpeg", "archive.jar": "image/gif", "script.js": "image/gif", "page.html": "image/png",
            "program.php": "image/jpeg",
        ]
        for (name, type) in types {
            let manifest = try #require(manifests[name])
            #expect(manifest.attachment?.mimeType == type)
            #expect(
                manifest.attachment?.file == "attachment.\(type == "image/jpeg" ? "jpg" : String(type.dropFirst(6)))")
            #expect(manifest.attachment?.sha256 == manifest.source.sha256)
        }
    }

    @Test func `An image shrunk for display contains no appended data`() async throws {
        let files = [
            Self.behind("archive.jpg", "grid.jpg", "shrunk", Self.archive),
            Self.behind("page.png", "grid.png", "shrunk", Self.page),
        ]
        for (name, manifest) in try await hostile.run(files, rendition: "display") {
            let bytes = try hostile.delivered(manifest)
            #expect(bytes.firstRange(of: Self.page.prefix(14)) == nil, "\(name)")
            #expect(bytes.firstRange(of: Self.archive.prefix(4)) == nil, "\(name)")
        }
    }

    @Test func `Converted media contain no appended or embedded data`() async throws {
        let files = [
            Self.behind("page.webp", "grid.webp", "converted", Self.page),
            Self.behind("page.tiff", "grid.tiff", "converted", Self.page),
            Self.behind("page.bmp", "grid.bmp", "converted", Self.page),
            Self.behind("page.heic", "grid.heic", "converted", MediaBytes.box("free", Self.page)),
            Self.behind("page.mkv", "clock.mkv", "converted", MediaBytes.ebml(0xEC, Self.page)),
            Self.behind("page.flac", "tone.flac", "converted", Self.page),
        ]
        for (name, manifest) in try await hostile.run(files) {
            #expect(try hostile.delivered(manifest).firstRange(of: Self.page.prefix(14)) == nil, "\(name)")
        }
    }

    @Test func `Audio and movies that contain HTML are delivered as audio and movies`() async throws {
        let files = [
            HostileFile("page.wav", ["passed"]) { _ in
                let whole = try Self.sample("tone.wav")
                let body = Array(whole[8...]) + MediaBytes.riff("LIST", Self.page)
                return MediaBytes.text("RIFF") + MediaBytes.littleEndian(body.count, 4) + body
            },
            HostileFile("page.mp4", ["passed"]) { _ in
                try Self.sample("clock.mp4") + MediaBytes.box("free", Self.page)
            },
        ]
        let manifests = try await hostile.run(files)
        #expect(
            manifests["page.wav"]?.attachment?.mimeType == "audio/wav"
                || manifests["page.wav"]?.attachment?.uti == "com.microsoft.waveform-audio")
        #expect(manifests["page.mp4"]?.attachment?.mimeType == "video/mp4")
    }

    @Test func `A file that begins as a document is not read as the media behind it`() async throws {
        try await hostile.run([
            HostileFile("page.jpg", HostileFile.rejected) { _ in try Self.page + Self.sample("grid.jpg") },
            HostileFile("document.jpg", HostileFile.rejected) { _ in
                try Array("%PDF-1.4\n1 0 obj\n<</Length 49473>>stream\n".utf8) + Self.sample("grid.jpg")
            },
            HostileFile("archive.png", HostileFile.rejected) { _ in try Self.archive + Self.sample("grid.png") },
            HostileFile("page.mp4", HostileFile.rejected) { _ in try Self.page + Self.sample("clock.mp4") },
        ])
    }

    // MARK: Text

    @Test func `Control characters in titles and file names do not reach the terminal`() async throws {
        let title = "\u{1B}]0;pwned\u{7}\u{1B}[2J<script>"
        let audio = try await onOwnThread {
            try GeneratedMedia.file(
                "title.mp3", ["-f", "lavfi", "-i", "sine=d=1", "-metadata", "title=\(title)", "-c:a", "libmp3lame"])
        }
        let image = try hostile.bench.folder.write(Self.sample("grid.png"), to: "name\u{1B}[2J\u{9B}31m.png")
        let missing = hostile.bench.folder.path("none\u{1B}[2J\u{202E}.png")
        for subcommand in ["prepare", "inspect"] {
            let options = subcommand == "prepare" ? ["--output", hostile.bench.output] : []
            let result = try await hostile.bench.command([subcommand] + options + [audio.path, image, missing]).run()
            for text in [result.text, result.errorText] {
                let controls = text.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
                #expect(Array(controls) == [], "\(subcommand): \(text.debugDescription)")
                #expect(!text.contains("pwned"))
            }
        }
    }
}
