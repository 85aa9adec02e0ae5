import Foundation
import RichPush
import TestSupport
import Testing

/// A response is accepted, or rejected with a reason as early as possible.
struct FetchResponseTests {
    private static let digest = String(repeating: "ab", count: 32)

    private func response(
        _ status: Int = 200, length: Int? = 100, type: String? = "image/jpeg"
    ) -> FetchResponse {
        FetchResponse(status: status, contentLength: length, contentType: type)
    }

    private func whole(
        _ candidate: FetchCandidate, _ length: Int?, received: Int, sha256: String = FetchResponseTests.digest
    ) -> FetchError? {
        let response = response(length: length)
        return candidate.error(of: response, received: received, type: candidate.type(in: response)) { sha256 }
    }

    @Test func `A response that matches the payload is accepted`() throws {
        let candidate = try FetchPlanTests.candidate(type: "public.jpeg", bytes: 100, sha256: Self.digest)
        #expect(candidate.error(of: response()) == nil)
        #expect(candidate.error(received: 100, expected: 100) == nil)
        #expect(whole(candidate, 100, received: 100) == nil)
    }

    @Test(arguments: [
        (201, FetchError.status), (204, .status), (206, .status), (404, .status), (500, .status), (302, .redirect),
        (304, .redirect),
    ])
    func `Only status 200 is accepted`(status: Int, error: FetchError) throws {
        #expect(try FetchPlanTests.candidate(type: "public.jpeg").error(of: response(status)) == error)
    }

    @Test func `A wrong length or type is rejected by the response head`() throws {
        let candidate = try FetchPlanTests.candidate(type: "public.jpeg", bytes: 100)
        #expect(candidate.error(of: response(length: 99)) == .length)
        #expect(candidate.error(of: response(length: 0)) == .empty)
        #expect(candidate.error(of: response(type: "text/html")) == .page)
        #expect(candidate.error(of: response(type: "application/json; charset=utf-8")) == .page)
        let unknown = try FetchPlanTests.candidate()
        #expect(unknown.error(of: response(length: 10_000_001)) == .tooLarge)
        #expect(unknown.error(of: response(length: 10_000_000)) == nil)
        #expect(unknown.error(of: response(type: "image/webp")) == .type)
        #expect(unknown.error(of: response(length: nil)) == nil)
    }

    @Test func `A wrong or excessive length is detected while bytes arrive`() throws {
        let known = try FetchPlanTests.candidate(type: "public.jpeg", bytes: 100)
        #expect(known.error(received: 1, expected: 101) == .length)
        #expect(known.error(received: 101, expected: nil) == .length)
        let unknown = try FetchPlanTests.candidate(type: "public.jpeg")
        #expect(unknown.error(received: 1, expected: 10_000_001) == .tooLarge)
        #expect(unknown.error(received: 10_000_001, expected: nil) == .tooLarge)
        #expect(unknown.error(received: 10_000_000, expected: nil) == nil)
    }

    @Test func `A complete file is compared with the declared length and digest`() throws {
        let candidate = try FetchPlanTests.candidate(type: "public.jpeg", sha256: Self.digest)
        #expect(whole(candidate, 100, received: 99) == .length)
        #expect(whole(candidate, 100, received: 100, sha256: String(repeating: "0", count: 64)) == .digest)
        #expect(whole(candidate, nil, received: 0) == .empty)
        #expect(whole(candidate, nil, received: 10_000_001) == .tooLarge)
    }

    @Test func `Without a declared type, the first bytes decide`() throws {
        let candidate = try FetchPlanTests.candidate()
        let unnamed = response(type: "application/octet-stream")
        #expect(candidate.error(of: unnamed) == nil)
        let recognized = candidate.error(of: unnamed, received: 100, type: DeviceFileType(.gif)) { "" }
        let unrecognized = candidate.error(of: unnamed, received: 100, type: nil) { "" }
        #expect(recognized == nil && unrecognized == .type)
    }

    @Test func `A digest is computed only when there is one to compare it with`() throws {
        let candidate = try FetchPlanTests.candidate(type: "public.jpeg")
        var count = 0
        _ = candidate.error(of: response(), received: 100, type: DeviceFileType(.jpeg)) {
            count += 1
            return ""
        }
        #expect(count == 0)
    }

    @Test(arguments: [
        ("https://a.example/1", "https://b.example/2", 1, true), ("http://a.example/1", "https://a.example/1", 3, true),
        ("http://a.example/1", "http://a.example/2", 1, true), ("https://a.example/1", "http://a.example/1", 1, false),
        ("https://a.example/1", "file:///etc/passwd", 1, false),
        ("https://a.example/1", "https://a.example/1", 4, false),
    ])
    func `Redirects must keep https and are limited in number`(
        source: String, target: String, count: Int, isAllowed: Bool
    ) {
        #expect(
            FetchRedirect.isAllowed(from: URL(string: source), to: URL(string: target), count: count) == isAllowed)
    }

    @Test(arguments: [
        (200, true), (202, true), (204, true), (400, true), (401, true), (404, true), (408, false), (429, false),
        (500, false), (503, false), (302, false), (100, false),
    ])
    func `A receipt report is final after success or a permanent error`(status: Int, isFinal: Bool) {
        #expect(PushReceiptReport.isFinal(status: status) == isFinal)
    }
}

/// The type of a file by its first bytes.
struct FileSignatureTests {
    @Test(arguments: [
        ("grid.jpg", AttachmentType.jpeg), ("grid.png", .png), ("counter.gif", .gif), ("tone.aiff", .aiff),
        ("tone.wav", .wave), ("cover.mp3", .mp3), ("tone.m4a", .mpeg4Audio), ("clock.mpg", .mpeg),
        ("clock.mp4", .mpeg4), ("clock.avi", .avi),
    ])
    func `Each sample is recognized by its first bytes`(name: String, type: AttachmentType) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample(name)))
        #expect(AttachmentType(beginning: bytes) == type)
    }

    @Test(arguments: [
        ("grid.heic", "public.heic"), ("clock.mov", "com.apple.quicktime-movie"),
        ("tone.caf", "com.apple.coreaudio-format"), ("grid.jpg", "public.jpeg"),
    ])
    func `Types that iOS takes without documenting them are recognized`(sample: String, uti: String) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: SourceTree.sample(sample)))
        #expect(DeviceFileType(beginning: bytes)?.uti == uti)
    }

    @Test(arguments: ["", "GIF8", "<!DOCTYPE html>", "RIFF\u{0}\u{0}\u{0}\u{0}WEBPVP8 ", "\u{0}\u{0}\u{0} ftypheic"])
    func `An unknown or too short signature has no type`(text: String) {
        #expect(AttachmentType(beginning: Array(text.utf8)) == nil)
    }
}
