import Foundation
import MediaEngine
import RichPush
import Testing

@testable import AttachPrep

struct RequestTests {
    private func request(_ json: String) throws -> AttachmentRequest {
        try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
    }

    @Test func `Only the source is required`() throws {
        let request = try request(#"{"source": "https://cdn.example/a"}"#)
        #expect(request == AttachmentRequest(source: "https://cdn.example/a"))
    }

    @Test func `The contract's whole example is read`() throws {
        let request = try request(
            """
            {"source": "https://cdn.example/cat.webp", "id": null,
             "options": {"crop": {"x": 0.25, "y": 0, "width": 0.5, "height": 1}, "thumbnailTime": 3.0,
                         "thumbnailHidden": null, "thumbnailSize": {"width": 300, "height": 200},
                         "thumbnailFit": "cover", "animation": "gif", "bakeRotation": false},
             "rendition": "original", "oversize": "reject", "unsupported": "reject", "budget": 12, "maxBytes": 5000,
             "network": null, "deviceBudget": 30, "headers": {"Authorization": "Bearer x"},
             "callbackURL": null, "priority": "normal", "notBefore": null}
            """)
        #expect(request.options.crop == .part(try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)))
        #expect(request.options.thumbnailTime == .at(3) && request.options.thumbnailHeight == 200)
        #expect(request.options.thumbnailFit == .cover && request.oversize == .reject)
        #expect(request.unsupported == .reject && request.budgetSeconds == 12 && request.bytesMax == 5000)
        #expect(request.headers == ["Authorization": "Bearer x"])
    }

    @Test(arguments: [
        "", "[]", "{", #"{"source": 7}"#, #"{}"#, #"{"source": "a", "colour": 1}"#,
        #"{"source": "a", "options": {"corp": null}}"#, #"{"source": "a", "oversize": "maybe"}"#,
        #"{"source": "a", "rendition": "poster"}"#, #"{"source": "a", "network": "5g"}"#,
        #"{"source": "a", "network": 0}"#, #"{"source": "a", "options": {"animation": "webm"}}"#,
        #"{"source": "a", "callbackURL": 7}"#, #"{"source": "a", "notBefore": 1}"#,
        #"{"source": "a", "notAfter": "tomorrow"}"#, #"{"source": "a", "priority": "urgent"}"#,
    ])
    func `What cannot be read, or is not in this version, is an invalid request`(json: String) {
        let error = #expect(throws: AttachPrepError.self) { try request(json) }
        #expect(error?.code == .requestInvalid)
    }

    @Test func `Terms of a job are read, and change neither the id nor the digest`() throws {
        let plain = try request(#"{"source": "https://a/b"}"#)
        let asked = try request(
            """
            {"source": "https://a/b", "callbackURL": "https://b/c", "priority": "bulk",
             "notBefore": "2026-11-21T20:51:02+01:00", "notAfter": "2026-11-21T20:00:00.250Z"}
            """)
        #expect(asked.jobOptions.callbackURL == "https://b/c" && asked.jobOptions.priority == .bulk)
        #expect(asked.jobOptions.notBefore.map(Timestamp.text) == "2026-11-21T19:51:02.000Z")
        #expect(asked.jobOptions.notAfter.map(Timestamp.text) == "2026-11-21T20:00:00.250Z")
        #expect(try RequestIdentity(asked, localState: nil) == RequestIdentity(plain, localState: nil))
        let written = try JSONEncoder().encode(asked)
        #expect(try AttachmentRequest(json: Array(written), defaults: AttachmentRequest(source: "")) == asked)
    }

    @Test(arguments: ["ftp://b", "b", "https://"]) func `A callback goes to an http or https URL`(url: String) throws {
        var asked = AttachmentRequest(source: "https://a/b")
        asked.jobOptions.callbackURL = url
        #expect(throws: AttachPrepError.self) { try asked.validate() }
    }

    @Test func `What is to be found out has words of its own`() throws {
        let asked = try request(#"{"source": "a", "options": {"crop": "smart:16:9", "thumbnailTime": "auto"}}"#)
        #expect(asked.options.crop == .smart(AspectRatio(width: 16, height: 9)))
        #expect(asked.options.thumbnailTime == .auto)
        let square = try request(#"{"source": "a", "options": {"crop": "smart", "animation": "mp4"}}"#)
        #expect(square.options.crop == .smart(.square) && square.options.animation == .mp4)
    }

    @Test(arguments: ["smart:", "smart:0:1", "smart:1", "smart:a:b", "clever", "smart:1:2:3"])
    func `Proportions that are none have the rectangle's code`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try CropChoice(text: text) }
        #expect(error?.code == .optionsInvalidClippingRect)
    }

    @Test(arguments: [#""3g""#, #""LTE""#, "800", #""800""#]) func `A network is a text or kilobits a second`(
        json: String
    ) throws {
        #expect(try request(#"{"source": "a", "network": \#(json)}"#).network != nil)
    }

    @Test func `What a request says survives being written and read`() throws {
        var asked = AttachmentRequest(source: "a")
        asked.options.crop = .smart(AspectRatio(width: 4, height: 3))
        asked.options.thumbnailTime = .auto
        (asked.options.animation, asked.options.bakesRotation) = (.still, true)
        (asked.rendition, asked.network, asked.deviceBudgetSeconds) = (.display, .kilobits(900), 5)
        let written = try JSONEncoder().encode(asked)
        #expect(try AttachmentRequest(json: [UInt8](written), defaults: AttachmentRequest(source: "")) == asked)
    }

    @Test func `A rectangle outside the picture has its own code`() {
        let error = #expect(throws: AttachPrepError.self) {
            try request(#"{"source": "a", "options": {"crop": {"x": 0.6, "y": 0, "width": 0.5, "height": 1}}}"#)
        }
        #expect(error?.code == .optionsInvalidClippingRect)
    }

    @Test func `Keys that are left out are as the defaults have them`() throws {
        var defaults = AttachmentRequest(source: "")
        defaults.options.thumbnailWidth = 99
        defaults.oversize = .reject
        let json = Array(#"{"source": "a", "options": {"thumbnailTime": 2}}"#.utf8)
        let request = try AttachmentRequest(json: json, defaults: defaults)
        #expect(request.options.thumbnailWidth == 99 && request.options.thumbnailTime == .at(2))
        #expect(request.oversize == .reject && request.source == "a")
    }

    @Test(arguments: ["a", "A9", "a.b_c-d", String(repeating: "x", count: 128)]) func `An id is a plain name`(
        id: String
    ) {
        #expect(AttachmentRequest.isValid(id: id))
    }

    @Test(arguments: ["", ".", "..", "-a", "a/b", "a b", "ä", "a\n", String(repeating: "x", count: 129)])
    func `Any other is none`(id: String) {
        #expect(!AttachmentRequest.isValid(id: id))
    }

    @Test(arguments: [
        (-1.0, ErrorCode.optionsInvalidTime), (.nan, .optionsInvalidTime), (.infinity, .optionsInvalidTime),
    ])
    func `A time before the beginning is no time`(time: Double, code: ErrorCode) {
        var request = AttachmentRequest(source: "a")
        request.options.thumbnailTime = .at(time)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == code)
    }

    @Test(arguments: [0.0, -1, .nan, .infinity]) func `A phone has some time`(seconds: Double) {
        var request = AttachmentRequest(source: "a")
        (request.network, request.deviceBudgetSeconds) = (.profile(.lte), seconds)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    @Test func `A phone that cannot even connect in time is told of`() {
        var request = AttachmentRequest(source: "a")
        (request.network, request.deviceBudgetSeconds) = (.profile(.threeG), 0.2)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    @Test(arguments: [(0, 300), (300, 0), (-1, 1), (100_000, 1)]) func `A thumbnail has a size`(width: Int, height: Int)
    {
        var request = AttachmentRequest(source: "a")
        (request.options.thumbnailWidth, request.options.thumbnailHeight) = (width, height)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .optionsInvalidSize)
    }

    @Test(arguments: ["X-A\r\nHost", "", "a b"]) func `A header's name is a name`(name: String) {
        var request = AttachmentRequest(source: "a")
        request.headers = [name: "b"]
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    // Issue 19, item 11.
    @Test(arguments: ["Host", "content-length", "Transfer-Encoding"])
    func `A header that belongs to the transfer is refused with the request`(name: String) {
        var request = AttachmentRequest(source: "https://a.example/1.png")
        request.headers = ["Accept-Language": "de", name: "b"]
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid && error?.message.contains(name) == true)
    }

    @Test func `A header's value does not begin another header`() {
        var request = AttachmentRequest(source: "a")
        request.headers = ["X-A": "b\r\nX-B: c"]
        #expect(throws: AttachPrepError.self) { try request.validate() }
    }
}

struct RequestIdentityTests {
    private let plain = AttachmentRequest(source: "https://cdn.example/a")

    private func identity(_ change: (inout AttachmentRequest) -> Void, state: String? = nil) throws -> RequestIdentity {
        var request = plain
        change(&request)
        return try RequestIdentity(request, localState: state)
    }

    @Test func `The same request has the same place and digest`() throws {
        #expect(try identity { _ in } == identity { $0.budgetSeconds = 3 })
    }

    @Test func `Other options are another place`() throws {
        #expect(try identity { _ in }.id != identity { $0.options.thumbnailWidth = 5 }.id)
        #expect(try identity { _ in }.id != identity { $0.headers = ["Authorization": "x"] }.id)
    }

    @Test func `The caller's name is the place, and does not hide that the request changed`() throws {
        let (one, other) = (try identity { $0.id = "cat" }, try identity { ($0.id, $0.bytesMax) = ("cat", 7) })
        #expect(one.id == "cat" && other.id == "cat" && one.digest != other.digest)
    }

    @Test func `A local file that changed is in the same place with another digest`() throws {
        let (one, other) = (try identity({ _ in }, state: "1"), try identity({ _ in }, state: "2"))
        #expect(one.id == other.id && one.digest != other.digest)
    }
}

struct SourceLocationTests {
    @Test(arguments: ["http://a/b", "https://a", "HTTPS://A/ä b"]) func `A URL is fetched`(source: String) throws {
        #expect(try SourceLocation(source, allowsFiles: false) == .remote(source))
    }

    @Test(arguments: [
        ("cat.jpg", "cat.jpg"), ("/a/b c.png", "/a/b c.png"), ("file:///a/b%20c.png", "/a/b c.png"),
        ("file://localhost/a", "/a"), ("file:/a", "/a"), ("12:30.png", "12:30.png"), ("./a:b", "./a:b"),
    ])
    func `On a command line a path or a file URL is a file`(source: String, path: String) throws {
        #expect(try SourceLocation(source, allowsFiles: true) == .file(path))
    }

    @Test(arguments: ["ftp://a/b", "gopher://a", "data:image/png;base64,AAAA", "javascript:1"])
    func `Other schemes are not allowed`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: true) }
        #expect(error?.code == .sourceSchemeNotAllowed)
    }

    @Test(arguments: ["cat.jpg", "/etc/passwd", ""]) func `Elsewhere a path is no source`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: false) }
        #expect(error?.code == .sourceInvalidURL)
    }

    @Test func `Elsewhere a file URL is no source either`() {
        let error = #expect(throws: AttachPrepError.self) {
            try SourceLocation("file:///etc/passwd", allowsFiles: false)
        }
        #expect(error?.code == .sourceSchemeNotAllowed)
    }

    @Test(arguments: ["file://server/a", "file://", "file:///a%00b", "file:///a%zz"])
    func `A file URL that names no file here is invalid`(source: String) {
        let error = #expect(throws: AttachPrepError.self) { try SourceLocation(source, allowsFiles: true) }
        #expect(error?.code == .sourceInvalidURL)
    }
}
