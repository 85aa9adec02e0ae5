import AttachPrepModel
import Foundation
import MediaEngine
import MediaTypes
import Testing

@testable import AttachPrep

struct RequestTargetsTests {
    private func keys(_ text: String, profiles: [String] = []) throws -> [String] {
        var targets = try RequestTargets(text: text)
        try targets.resolve(profiles: TargetTable.profiles(profiles))
        return targets.renditions.map(\.key)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do { try body() } catch let error as AttachPrepError {
            return error.code == .requestInvalid ? error.message : nil
        } catch { return nil }
        return nil
    }

    @Test func `Targets are made in the order of the table, each once`() throws {
        #expect(try keys("web,android,ios,android") == ["android", "web", "webIcon"])
        #expect(try keys("ios").isEmpty)
        #expect(try keys("avatar,webBadge") == ["webBadge", "avatar"])
    }

    @Test func `A badge, and a smaller still for iOS, are made only when they are named`() throws {
        #expect(try keys("ios,iosSmall") == ["iosSmall"])
        #expect(try keys("ios,web") == ["web", "webIcon"])
        #expect(try keys("ios,web,webBadge") == ["web", "webIcon", "webBadge"])
    }

    @Test func `An unknown target is refused with the known ones`() {
        let message = message { _ = try keys("ios,windows", profiles: ["pushover:1024x1024:5000000"]) }
        #expect(message?.contains("ios, iosSmall, android, web, webIcon, webBadge, avatar, pushover") == true)
    }

    @Test(arguments: ["", "ios,,web", "a b", "é", "-x", String(repeating: "a", count: 33)])
    func `A name that no target can have is refused`(text: String) {
        #expect(message { _ = try keys(text) } != nil)
    }

    @Test func `An operator's profile is a target with limits of its own`() throws {
        var targets = try RequestTargets(text: "pushover")
        try targets.resolve(profiles: TargetTable.profiles(["pushover:1024x768:5000000", "wide:1200x600:300000:crop"]))
        let row = try #require(targets.renditions.first)
        #expect((row.width, row.height, row.bytesMax) == (1024, 768, 5_000_000))
        #expect(row.fit == .whole && targets.ownRows == [row])
    }

    @Test(arguments: [
        "pushover", "pushover:1024:5", "pushover:0x5:50000", "pushover:9999x5:50000", "pushover:10x10:5",
        "android:10x10:50000", "ios:10x10:50000", "thumbnail:10x10:50000", "a/b:10x10:50000", "p:10x10:50000:fit",
    ]) func `An invalid profile is refused`(text: String) {
        #expect(message { _ = try TargetTable.profiles([text]) } != nil)
    }

    @Test func `Two profiles of one name are refused`() {
        #expect(message { _ = try TargetTable.profiles(["a:10x10:50000", "a:20x20:50000"]) } != nil)
    }

    @Test func `A request without targets keeps its identity`() throws {
        var request = AttachmentRequest(source: "https://cdn.example/a.jpg")
        let plain = try RequestIdentity(request, localState: nil)
        request.targets = try RequestTargets(text: "ios")
        #expect(try RequestIdentity(request, localState: nil) == plain)
        request.targets = RequestTargets([.android])
        #expect(try RequestIdentity(request, localState: nil) != plain)
    }

    @Test func `A profile with other limits is another result`() throws {
        func digest(_ profile: String) throws -> String {
            var request = AttachmentRequest(source: "https://cdn.example/a.jpg")
            request.targets = try RequestTargets(text: "ios,pushover")
            try request.targets.resolve(profiles: TargetTable.profiles([profile]))
            return try RequestIdentity(request, localState: nil).digest
        }
        #expect(try digest("pushover:1024x1024:5000000") != digest("pushover:512x512:5000000"))
    }

    @Test func `Targets and avatar survive their JSON form`() throws {
        let json = #"{"source": "https://a/b", "targets": ["web", "ios"], "avatar": "https://a/c"}"#
        let request = try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
        #expect(request.targets.names == ["web"] && request.avatar == "https://a/c")
        let text = try JSONEncoder.singleLine.text(request)
        #expect(text.contains(#""targets":["ios","web"]"#))
        #expect(try AttachmentRequest(json: Array(text.utf8), defaults: AttachmentRequest(source: "")) == request)
    }
}
