import Foundation
import MediaEngine
import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct AttachmentRequestTests {
    private func request(_ json: String) throws -> AttachmentRequest {
        try AttachmentRequest(json: Array(json.utf8), defaults: AttachmentRequest(source: ""))
    }

    @Test func `Only the source is required`() throws {
        let request = try request(#"{"source": "https://cdn.example/a"}"#)
        #expect(request == AttachmentRequest(source: "https://cdn.example/a"))
    }

    @Test func `The full example of the contract is parsed`() throws {
        let request = try request(
            """
            {"source": "https://cdn.example/cat.webp", "id": null,
             "options": {"crop": {"x": 0.25, "y": 0, "width": 0.5, "height": 1}, "thumbnailTime": 3.0,
                         "thumbnailHidden": null, "thumbnailSize": {"width": 300, "height": 200},
                         "thumbnailFit": "cover", "animation": "gif", "bakeRotation": false},
             "rendition": "original", "oversize": "reject", "unsupported": "reject", "budget": 12,
             "maxBytes": 5000, "network": null, "deviceBudget": 30, "headers": {"Authorization": "Bearer x"},
             "callbackURL": null, "priority": "normal", "notBefore": null}
            """)
        #expect(request.options.crop == .part(try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)))
        #expect(request.options.thumbnailTime == .at(3) && request.options.thumbnailHeight == 200)
        #expect(request.options.thumbnailFit == .cover && request.oversize == .reject)
        #expect(request.unsupported == .reject && request.bytesMax == 5000)
        #expect(request.budgetSeconds == 12)
        #expect(request.headers == ["Authorization": "Bearer x"])
    }

    @Test func `Attachment types are parsed, and change the digest`() throws {
        let plain = try request(#"{"source": "https://a/b"}"#)
        let parsed = try request(#"{"source": "https://a/b", "attachmentTypes": ["mp4", "mp3"]}"#)
        #expect(parsed.attachmentTypes == AcceptedTypes([.mp3, .mpeg4]))
        #expect(try RequestIdentity(parsed, localState: nil) != RequestIdentity(plain, localState: nil))
        let swapped = try request(#"{"source": "https://a/b", "attachmentTypes": ["mp3", "mp4"]}"#)
        #expect(try RequestIdentity(parsed, localState: nil) == RequestIdentity(swapped, localState: nil))
    }

    @Test(arguments: [
        "", "[]", "{", #"{"source": 7}"#, #"{}"#, #"{"source": "a", "color": 1}"#,
        #"{"source": "a", "options": {"corp": null}}"#, #"{"source": "a", "oversize": "maybe"}"#,
        #"{"source": "a", "rendition": "poster"}"#, #"{"source": "a", "network": "5g"}"#,
        #"{"source": "a", "network": 0}"#, #"{"source": "a", "options": {"animation": "webm"}}"#,
        #"{"source": "a", "callbackURL": 7}"#, #"{"source": "a", "notBefore": 1}"#,
        #"{"source": "a", "attachmentTypes": ["webm"]}"#, #"{"source": "a", "attachmentTypes": "mp3"}"#,
        #"{"source": "a", "notAfter": "tomorrow"}"#, #"{"source": "a", "priority": "urgent"}"#,
    ])
    func `Invalid JSON, unknown keys and unknown values are rejected`(json: String) {
        let error = #expect(throws: AttachPrepError.self) { try request(json) }
        #expect(error?.code == .requestInvalid)
    }

    @Test func `Job options are parsed, and change neither the id nor the digest`() throws {
        let plain = try request(#"{"source": "https://a/b"}"#)
        let parsed = try request(
            """
            {"source": "https://a/b", "callbackURL": "https://b/c", "priority": "bulk",
             "notBefore": "2026-11-21T20:51:02+01:00", "notAfter": "2026-11-21T20:00:00.250Z"}
            """)
        #expect(parsed.jobOptions.callbackURL == "https://b/c" && parsed.jobOptions.priority == .bulk)
        #expect(parsed.jobOptions.notBefore.map(Timestamp.text) == "2026-11-21T19:51:02.000Z")
        #expect(parsed.jobOptions.notAfter.map(Timestamp.text) == "2026-11-21T20:00:00.250Z")
        #expect(try RequestIdentity(parsed, localState: nil) == RequestIdentity(plain, localState: nil))
        let written = try JSONEncoder().encode(parsed)
        #expect(try AttachmentRequest(json: Array(written), defaults: AttachmentRequest(source: "")) == parsed)
    }

    @Test(arguments: ["ftp://b", "b", "https://"]) func `A callback must be an http or https URL`(url: String) throws {
        var parsed = AttachmentRequest(source: "https://a/b")
        parsed.jobOptions.callbackURL = url
        #expect(throws: AttachPrepError.self) { try parsed.validate() }
    }

    @Test func `Automatic crops and thumbnail times have their own values`() throws {
        let parsed = try request(#"{"source": "a", "options": {"crop": "smart:16:9", "thumbnailTime": "auto"}}"#)
        #expect(parsed.options.crop == .smart(AspectRatio(width: 16, height: 9)))
        #expect(parsed.options.thumbnailTime == .auto)
        let square = try request(#"{"source": "a", "options": {"crop": "smart", "animation": "mp4"}}"#)
        #expect(square.options.crop == .smart(.square) && square.options.animation == .mp4)
    }

    @Test(arguments: ["smart:", "smart:0:1", "smart:1", "smart:a:b", "clever", "smart:1:2:3"])
    func `Invalid proportions are rejected with the rectangle's code`(text: String) {
        let error = #expect(throws: AttachPrepError.self) { try CropChoice(text: text) }
        #expect(error?.code == .optionsInvalidClippingRect)
    }

    @Test(arguments: [#""3g""#, #""LTE""#, "800", #""800""#])
    func `A network is a name or a number of kilobits per second`(json: String) throws {
        #expect(try request(#"{"source": "a", "network": \#(json)}"#).network != nil)
    }

    @Test func `An encoded request decodes to the same request`() throws {
        var parsed = AttachmentRequest(source: "a")
        parsed.options.crop = .smart(AspectRatio(width: 4, height: 3))
        parsed.options.thumbnailTime = .auto
        (parsed.options.animation, parsed.options.bakesRotation) = (.still, true)
        (parsed.rendition, parsed.network, parsed.deviceBudgetSeconds) = (.display, .kilobits(900), 5)
        let written = try JSONEncoder().encode(parsed)
        #expect(try AttachmentRequest(json: [UInt8](written), defaults: AttachmentRequest(source: "")) == parsed)
    }

    @Test func `A rectangle outside the image has its own code`() {
        let error = #expect(throws: AttachPrepError.self) {
            try request(#"{"source": "a", "options": {"crop": {"x": 0.6, "y": 0, "width": 0.5, "height": 1}}}"#)
        }
        #expect(error?.code == .optionsInvalidClippingRect)
    }

    @Test func `Omitted keys keep their defaults`() throws {
        var defaults = AttachmentRequest(source: "")
        defaults.options.thumbnailWidth = 99
        defaults.oversize = .reject
        let json = Array(#"{"source": "a", "options": {"thumbnailTime": 2}}"#.utf8)
        let request = try AttachmentRequest(json: json, defaults: defaults)
        #expect(request.options.thumbnailWidth == 99 && request.options.thumbnailTime == .at(2))
        #expect(request.oversize == .reject && request.source == "a")
    }

    @Test(arguments: ["a", "A9", "a.b_c-d", String(repeating: "x", count: 128)]) func `A plain name is a valid id`(
        id: String
    ) {
        #expect(AttachmentRequest.isValid(id: id))
    }

    @Test(arguments: ["", ".", "..", "-a", "a/b", "a b", "ä", "a\n", String(repeating: "x", count: 129)])
    func `Any other text is not a valid id`(id: String) {
        #expect(!AttachmentRequest.isValid(id: id))
    }

    @Test(arguments: [
        (-1.0, ErrorCode.optionsInvalidTime), (.nan, .optionsInvalidTime), (.infinity, .optionsInvalidTime),
    ])
    func `A negative or non-finite thumbnail time is rejected`(time: Double, code: ErrorCode) {
        var request = AttachmentRequest(source: "a")
        request.options.thumbnailTime = .at(time)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == code)
    }

    @Test(arguments: [0.0, -1, .nan, .infinity]) func `A device budget must be positive and finite`(seconds: Double) {
        var request = AttachmentRequest(source: "a")
        (request.network, request.deviceBudgetSeconds) = (.profile(.lte), seconds)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    @Test func `A device budget too short to connect is rejected`() {
        var request = AttachmentRequest(source: "a")
        (request.network, request.deviceBudgetSeconds) = (.profile(.threeG), 0.2)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    @Test(arguments: [(0, 300), (300, 0), (-1, 1), (100_000, 1)])
    func `A thumbnail size must be positive and within its limit`(width: Int, height: Int) {
        var request = AttachmentRequest(source: "a")
        (request.options.thumbnailWidth, request.options.thumbnailHeight) = (width, height)
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .optionsInvalidSize)
    }

    @Test(arguments: ["X-A\r\nHost", "", "a b"]) func `An invalid header name is rejected`(name: String) {
        var request = AttachmentRequest(source: "a")
        request.headers = [name: "b"]
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid)
    }

    // Issue 19, item 11.
    @Test(arguments: ["Host", "content-length", "Transfer-Encoding"])
    func `A reserved header is rejected with the request`(name: String) {
        var request = AttachmentRequest(source: "https://a.example/1.png")
        request.headers = ["Accept-Language": "de", name: "b"]
        let error = #expect(throws: AttachPrepError.self) { try request.validate() }
        #expect(error?.code == .requestInvalid && error?.message.contains(name) == true)
    }

    @Test func `A line break in a header value is rejected`() {
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

    @Test func `The budget changes neither the id nor the digest`() throws {
        #expect(try identity { _ in } == identity { $0.budgetSeconds = 3 })
    }

    @Test func `The id of a request with default options is the same in every version`() throws {
        #expect(try identity { _ in }.id == "419411f4bd72a023629ed3d80b254b0d")
    }

    @Test func `Other options and headers change the id`() throws {
        #expect(try identity { _ in }.id != identity { $0.options.thumbnailWidth = 5 }.id)
        #expect(try identity { _ in }.id != identity { $0.headers = ["Authorization": "x"] }.id)
    }

    @Test func `The caller's id is used, and the digest still shows a changed request`() throws {
        let (one, other) = (try identity { $0.id = "cat" }, try identity { ($0.id, $0.bytesMax) = ("cat", 7) })
        #expect(one.id == "cat" && other.id == "cat" && one.digest != other.digest)
    }

    @Test func `A changed local file has the same id and another digest`() throws {
        let (one, other) = (try identity({ _ in }, state: "1"), try identity({ _ in }, state: "2"))
        #expect(one.id == other.id && one.digest != other.digest)
    }
}

struct TimestampTests {
    @Test(arguments: [
        ("2026-11-21T20:51:02Z", 1_795_294_262.0), ("2026-11-21T20:51:02.25Z", 1_795_294_262.25),
        ("2026-11-21t21:51:02+01:00", 1_795_294_262), ("2026-11-21T20:51:59.9999z", 1_795_294_319.9999),
        ("2026-11-20T22:08:02-22:43", 1_795_294_262), ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func `A timestamp with any offset is parsed`(text: String, seconds: Double) throws {
        let date = try #require(Timestamp.date(text))
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.001)
    }

    @Test(arguments: [
        "2026-11-21T12:99:00Z", "2026-02-31T12:00:00Z", "2026-13-01T12:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T12:00:75Z", "2026-11-21T12:00:00", "2026-11-21", "2026-11-21T12:00:00+24:00", "", "Z", "now",
    ])
    func `A nonexistent time or another notation is not parsed`(text: String) {
        #expect(Timestamp.date(text) == nil)
    }
}
