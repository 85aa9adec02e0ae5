import Foundation
import TestSupport
import Testing

/// Pictures for Android, browsers and other services, beside iOS's attachment.
@Suite(.timeLimit(.minutes(2))) struct TargetTests {
    let bench: CommandBench

    init() throws { bench = try CommandBench() }

    private func expectFiles(_ manifest: PrintedManifest, _ keys: Set<String>) throws {
        let renditions = try #require(manifest.renditions)
        #expect(Set(renditions.keys) == keys)
        for rendition in renditions.values {
            let path = bench.path(manifest, rendition.file)
            #expect(try Data(contentsOf: URL(filePath: path)).count == rendition.bytes)
        }
    }

    @Test(arguments: ["grid.jpg", "grid.webp", "counter.gif", "clock.mp4", "clock.webm", "cover.mp3"])
    func `One source becomes an attachment and pictures for Android and the web`(name: String) async throws {
        let manifest = try await bench.prepare(CommandBench.url(name), "--for", "ios,android,web")
        try expectFiles(manifest, ["android", "web", "webIcon"])
        let android = try #require(manifest.renditions?["android"])
        #expect(android.width == android.height * 2 && android.width <= 1_024 && android.bytes <= 1_048_576)
        #expect(["image/jpeg", "image/png"].contains(android.type))
        #expect(manifest.attachment != nil && manifest.thumbnail != nil)
        #expect(!manifest.warningCodes.contains { $0.hasPrefix("target.") })
    }

    @Test func `A movie's pictures show the frame of its thumbnail`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("clock.mp4"), "--for", "android", "--thumbnail-time", "1.5")
        let android = try #require(manifest.renditions?["android"])
        let (picture, thumbnail) = (
            try await bench.image(bench.path(manifest, android.file)), try await bench.thumbnail(manifest)
        )
        #expect(manifest.thumbnail?.time == 1.48 || manifest.thumbnail?.time == 1.5)
        #expect(picture.width == 2 * picture.height && thumbnail.width > 0)
    }

    @Test func `A request without targets has no renditions`() async throws {
        let plain = try await bench.prepare(CommandBench.url("grid.jpg"))
        let ios = try await bench.prepare(CommandBench.url("grid.jpg"), "--for", "ios")
        #expect(plain.renditions == nil && plain.id == ios.id)
    }

    @Test func `Audio without a cover is a warning, and is delivered`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("tone.m4a"), "--for", "ios,android,web")
        #expect(manifest.outcome == "passed" && manifest.renditions == [:])
        #expect(manifest.warningCodes == ["target.no_image"])
    }

    @Test func `An avatar has a source of its own`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("clock.mp4"), "--avatar", CommandBench.url("grid.webp"))
        try expectFiles(manifest, ["avatar"])
        let avatar = try #require(manifest.renditions?["avatar"])
        #expect((avatar.width, avatar.height) == (256, 256) && avatar.bytes <= 50_000)
    }

    @Test(arguments: ["missing.png", "clock.mp4", "tune.mid"])
    func `An avatar that cannot be made is a warning`(name: String) async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("grid.jpg"), "--for", "ios,android,avatar", "--avatar", CommandBench.url(name))
        try expectFiles(manifest, ["android"])
        #expect(manifest.warningCodes == ["target.avatar_failed"] && manifest.outcome == "passed")
    }

    @Test func `An avatar gets no header of the request`() async throws {
        let server = try LoopbackServer()
        server.serve("/a.jpg", .body(try Data(contentsOf: URL(filePath: SourceTree.sample("grid.jpg")))))
        _ = try await bench.prepare(
            CommandBench.url("grid.jpg"), "--avatar", server.url("/a.jpg"), "--header", "Authorization: Bearer x")
        #expect(try #require(server.requests.first).headers["authorization"] == nil)
    }

    @Test func `A smaller still for iOS shows the whole picture`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("clock.mp4"), "--for", "ios,iosSmall")
        try expectFiles(manifest, ["iosSmall"])
        let picture = try #require(manifest.renditions?["iosSmall"])
        #expect(max(picture.width, picture.height) <= 1_280 && picture.width != 2 * picture.height)
    }

    @Test func `An operator's profile is a target`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("grid.jpg"), "--for", "pushover", "--target-profile", "pushover:400x400:20000")
        try expectFiles(manifest, ["pushover"])
        let picture = try #require(manifest.renditions?["pushover"])
        #expect((picture.width, picture.height) == (400, 300) && picture.bytes <= 20_000)
    }

    @Test func `An unknown target is refused with the known ones`() async throws {
        let manifest = try await bench.prepare(CommandBench.url("grid.jpg"), "--for", "ios,symbian")
        bench.expect(manifest, rejectedAs: "request.invalid")
        #expect(manifest.error?.message.contains("ios, iosSmall, android, web, webIcon, webBadge, avatar") == true)
    }

    @Test func `A time budget that ran short costs pictures, not the attachment`() async throws {
        let manifest = try await bench.prepare(
            CommandBench.url("clock.webm"), "--for", "ios,android,web", "--budget", "150ms")
        guard manifest.error == nil else {
            #expect(manifest.error?.code == "deadline.exceeded")
            return
        }
        let missing = Set(["android", "web", "webIcon"]).subtracting((manifest.renditions ?? [:]).keys)
        #expect(missing.isEmpty == !manifest.warningCodes.contains("target.late"))
    }
}
