import MediaTypes
import Testing

struct MediaTargetTests {
    @Test func `Each role of the web has a rendition of its own`() {
        let keys = MediaTarget.Role.allCases.map { MediaTarget.web.renditionKey(for: $0) }
        #expect(keys == ["web", "webIcon", "webBadge"])
    }

    @Test func `iOS shows the attachment, not a rendition`() {
        #expect(MediaTarget.Role.allCases.allSatisfy { MediaTarget.ios.renditionKey(for: $0) == nil })
    }

    @Test func `No two targets share a rendition`() {
        let keys = MediaTarget.allCases.compactMap { $0.renditionKey(for: .image) }
        #expect(keys == ["android", "web", "avatar"])
    }
}
