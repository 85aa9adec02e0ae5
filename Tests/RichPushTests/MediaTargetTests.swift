import RichPush
import Testing

@Suite
struct MediaTargetTests {
    @Test("Each role of the web has a rendition of its own")
    func webRoles() {
        let keys = MediaTarget.Role.allCases.map { MediaTarget.web.renditionKey(for: $0) }
        #expect(keys == ["web", "webIcon", "webBadge"])
    }

    @Test("iOS shows the attachment, not a rendition")
    func iOSHasNoRendition() {
        #expect(MediaTarget.Role.allCases.allSatisfy { MediaTarget.ios.renditionKey(for: $0) == nil })
    }

    @Test("No two targets share a rendition")
    func keysAreDistinct() {
        let keys = MediaTarget.allCases.compactMap { $0.renditionKey(for: .image) }
        #expect(keys == ["android", "web", "avatar"])
    }
}
