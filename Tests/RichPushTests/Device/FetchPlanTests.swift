import Foundation
import RichPush
import Testing

/// Which files a device fetches, and which type it takes each of them for.
struct FetchPlanTests {
    static func attachment(
        _ url: String, type: String? = nil, bytes: Int? = nil, sha256: String? = nil, thumbnail: String? = nil
    ) -> PushAttachment {
        var attachment = PushAttachment(id: url)
        attachment.url = url
        attachment.bytes = bytes
        attachment.sha256 = sha256
        attachment.options = PushAttachmentOptions()
        attachment.options?.typeHint = type
        attachment.thumbnail = thumbnail.map(PushPicture.init(url:))
        return attachment
    }

    static func candidate(
        _ url: String = "https://cdn.example/a", type: String? = nil, bytes: Int? = nil, sha256: String? = nil
    )
        throws -> FetchCandidate
    {
        let content = PushContent(attachments: [attachment(url, type: type, bytes: bytes, sha256: sha256)])
        return try #require(FetchPlan(content).attachments.first)
    }

    @Test func `Attachments are fetched in order, then thumbnails in order`() {
        let plan = FetchPlan(
            PushContent(attachments: [
                Self.attachment("https://cdn.example/1", thumbnail: "https://cdn.example/t1"),
                Self.attachment("https://cdn.example/2"),
                Self.attachment("https://cdn.example/3", thumbnail: "https://cdn.example/t3"),
            ]))
        #expect(
            plan.attachments.map(\.id) == ["https://cdn.example/1", "https://cdn.example/2", "https://cdn.example/3"])
        #expect(plan.thumbnails.map(\.id) == ["https://cdn.example/1-thumbnail", "https://cdn.example/3-thumbnail"])
    }

    @Test func `The kinds that an app prefers come first, in its order`() {
        let urls = ["1.mp4", "2.jpg", "3", "4.mp3", "5.gif"].map { "https://cdn.example/\($0)" }
        let content = PushContent(attachments: urls.map { Self.attachment($0) })
        let kinds: [MediaKind] = [.audio, .image]
        let ids = FetchPlan(content, kinds: kinds).attachments.map { $0.id.suffix(5) }
        #expect(ids == ["4.mp3", "2.jpg", "5.gif", "1.mp4", "ple/3"])
    }

    @Test func `The companion of an attachment with a hidden thumbnail is the next one with a visible one`() {
        let hidden = (1...2).map { number in
            var attachment = Self.attachment("https://cdn.example/\(number)")
            attachment.options?.thumbnailHidden = true
            return attachment
        }
        let plan = FetchPlan(PushContent(attachments: hidden + [Self.attachment("https://cdn.example/3")]))
        #expect(
            plan.attachments.map { plan.companion(of: $0)?.id } == [
                "https://cdn.example/3", "https://cdn.example/3", nil,
            ])
        let alone = FetchPlan(PushContent(attachments: hidden))
        #expect(alone.attachments.map { alone.companion(of: $0)?.id } == [nil, nil])
    }

    /// Over which networks an attachment or its smaller rendition comes first.
    private static let networks: [(FetchNetwork, [String], Bool)] = [
        (FetchNetwork(), ["a", "a-smaller", "b"], true),
        (FetchNetwork(isExpensive: true), ["a-smaller", "a", "b"], false),
        (FetchNetwork(isConstrained: true), ["a-smaller", "a", "b"], false),
        (FetchNetwork(isExpensive: true, isConstrained: true), ["a-smaller", "a", "b"], false),
    ]

    @Test(arguments: networks)
    func `A smaller rendition comes first over expensive and constrained networks, else after its attachment`(
        network: FetchNetwork, ids: [String], isGivenUp: Bool
    ) throws {
        var attachments = ["a", "b"].map { id in
            var attachment = Self.attachment("https://cdn.example/\(id).mp4")
            attachment.id = id
            return attachment
        }
        attachments[0].smaller = PushPicture(url: "https://cdn.example/a.jpg")
        let plan = FetchPlan(PushContent(attachments: attachments), network: network)
        #expect(plan.attachments.map(\.id) == ids)
        #expect(plan.attachments.filter(\.hasSmaller).map(\.id) == (isGivenUp ? ["a"] : []))
        // Of a carousel, one of the two is shown.
        #expect(try plan.others(after: #require(plan.attachments.first)).map(\.id) == ["b"])
    }

    @Test func `A sealed attachment has no smaller rendition`() throws {
        var attachment = Self.attachment("https://cdn.example/a")
        attachment.sealed = PushSeal(secret: .make(), kind: .image, bytes: 9)
        attachment.smaller = PushPicture(url: "https://cdn.example/s.jpg")
        #expect(FetchPlan(PushContent(attachments: [attachment])).attachments.map(\.role) == [.attachment])
    }

    @Test func `The sender's picture is fetched up to 1 MB`() throws {
        var avatar = PushPicture(url: "https://cdn.example/v.jpg")
        let plan = FetchPlan(PushContent(attachments: [], avatar: avatar))
        let candidate = try #require(plan.avatar)
        #expect(!plan.isEmpty && plan.attachments.isEmpty && candidate.id == "avatar")
        let response = FetchResponse(status: 200, contentLength: 1_000_001, contentType: "image/jpeg")
        #expect(candidate.error(of: response) == .tooLarge)
        avatar.bytes = 1_000_001
        #expect(FetchPlan(PushContent(attachments: [], avatar: avatar)).isEmpty)
    }

    @Test func `The same URL is fetched once`() {
        let same = "https://cdn.example/1"
        let plan = FetchPlan(
            PushContent(attachments: [Self.attachment(same, thumbnail: same), Self.attachment(same)]))
        #expect(plan.attachments.count == 1 && plan.thumbnails.isEmpty)
    }

    @Test(arguments: [("public.jpeg", 10_000_001), ("public.mp3", 5_000_001), ("public.mpeg-4", 50_000_001)])
    func `A file over iOS' size limit is not fetched`(type: String, bytes: Int) {
        let url = "https://cdn.example/1"
        #expect(FetchPlan(PushContent(attachments: [Self.attachment(url, type: type, bytes: bytes)])).isEmpty)
        #expect(!FetchPlan(PushContent(attachments: [Self.attachment(url, type: type, bytes: bytes - 1)])).isEmpty)
    }

    @Test(arguments: ["", ".", "..", "/", "a/.."]) func `A bundle file without a valid name is ignored`(name: String) {
        var attachment = PushAttachment(id: "0")
        attachment.file = name
        #expect(FetchPlan(PushContent(attachments: [attachment])).isEmpty)
    }

    @Test func `A bundle file name cannot leave the app bundle`() throws {
        var attachment = PushAttachment(id: "0")
        attachment.file = "../../Documents/cat.jpg"
        #expect(FetchPlan(PushContent(attachments: [attachment])).attachments.first?.source == .bundle("cat.jpg"))
    }

    @Test(arguments: AttachmentType.allCases)
    func `The file name has the extension of its type`(type: AttachmentType) throws {
        let candidate = try Self.candidate(type: type.uti)
        #expect(candidate.fileName(DeviceFileType(type)) == "attachment.\(type.fileExtension)")
        #expect(candidate.type(in: FetchResponse(status: 200, contentType: "image/png")) == DeviceFileType(type))
    }

    /// The payload's type, else Content-Type, else the suggested name, else the URL.
    private static let sources: [(String, String?, String?, String?, AttachmentType?)] = [
        ("https://cdn.example/a.jpg", "com.compuserve.gif", "image/png", "a.mp4", .gif),
        ("https://cdn.example/a.jpg", nil, "image/png; charset=binary", "a.mp4", .png),
        ("https://cdn.example/a.jpg", "public.heif", "IMAGE/JPG", nil, .jpeg),
        ("https://cdn.example/a.jpg", nil, "application/octet-stream", "a.MPEG", .mpeg),
        ("https://cdn.example/a.JPEG?x=1.png", nil, "application/octet-stream", "download", .jpeg),
        ("https://cdn.example/a.wav", nil, nil, nil, .wave),
        ("https://cdn.example/a", nil, "audio/x-m4a", nil, .mpeg4Audio),
        ("https://cdn.example/a.webp", nil, "image/webp", "a.webp", nil),
        ("https://cdn.example/jpg", nil, nil, ".jpg", nil),
    ]

    @Test(arguments: sources)
    func `The type comes from the source with the highest precedence`(
        url: String, hint: String?, contentType: String?, name: String?, expected: AttachmentType?
    ) throws {
        let candidate = try Self.candidate(url, type: hint)
        let response = FetchResponse(status: 200, contentType: contentType, suggestedName: name)
        #expect(candidate.type(in: response) == expected.map { DeviceFileType($0) })
    }
}

/// Types that iOS has been seen to attach, beside the documented ones.
struct DeviceFileTypeTests {
    @Test(arguments: [
        ("https://cdn.example/a.heic", "public.heic", "attachment.heic", 10_000_000),
        ("https://cdn.example/a.MOV", "com.apple.quicktime-movie", "attachment.mov", 50_000_000),
        ("https://cdn.example/a.caf", "com.apple.coreaudio-format", "attachment.caf", 5_000_000),
    ])
    func `A phone attaches them when a payload names one`(url: String, uti: String, name: String, bytes: Int) throws {
        let candidate = try FetchPlanTests.candidate(url)
        let type = try #require(candidate.type(in: FetchResponse(status: 200)))
        #expect(type.uti == uti && candidate.fileName(type) == name)
        #expect(candidate.error(of: FetchResponse(status: 200, contentLength: bytes)) == nil)
        #expect(candidate.error(of: FetchResponse(status: 200, contentLength: bytes + 1)) == .tooLarge)
        #expect(try FetchPlanTests.candidate("https://cdn.example/a", type: uti).declaredType == type)
        let options = PushAttachmentOptions().dictionary(for: type)
        #expect(options["UNNotificationAttachmentOptionsTypeHintKey"] as? String == uti)
    }

    @Test(arguments: ["webp", "heif", "tiff", "ogg", "mkv"])
    func `What iOS never accepts has no type`(ending: String) throws {
        let candidate = try FetchPlanTests.candidate("https://cdn.example/a.\(ending)")
        #expect(candidate.type(in: FetchResponse(status: 200)) == nil)
    }

    @Test func `Over a limited network, a file of unknown length counts as larger than the limit`() throws {
        var candidate = try FetchPlanTests.candidate("https://cdn.example/a.jpg", bytes: 2_000)
        candidate.networkBytesMax = 1_000
        #expect(candidate.errorBeforeFetch == .network)
        candidate.networkBytesMax = 2_000
        #expect(candidate.errorBeforeFetch == nil && candidate.error(of: FetchResponse(status: 200)) == nil)
        var unknown = try FetchPlanTests.candidate("https://cdn.example/a.jpg")
        unknown.networkBytesMax = 1_000
        #expect(unknown.errorBeforeFetch == nil)
        #expect(unknown.error(of: FetchResponse(status: 200)) == .network)
        #expect(unknown.error(of: FetchResponse(status: 200, contentLength: 1_001)) == .network)
        #expect(unknown.error(of: FetchResponse(status: 200, contentLength: 1_000)) == nil)
        #expect(unknown.error(received: 1_001, expected: nil) == .network)
        let both = FetchNetworkLimits(expensiveBytesMax: 5, constrainedBytesMax: 3)
        #expect(both.bytesMax(on: FetchNetwork(isExpensive: true, isConstrained: true)) == 3)
        #expect(both.bytesMax(on: FetchNetwork()) == nil)
    }
}

/// The time limit for fetching one file on a device.
struct FetchDeadlineTests {
    @Test func `The deadline is below the limits of iOS and the SDKs`() {
        #expect(FetchDeadline().seconds < 25)
        #expect(FetchDeadline().thumbnailAfterSeconds < 7)
    }

    @Test func `A file may take the remaining time minus the time for handing over`() {
        let deadline = FetchDeadline(seconds: 24)
        #expect(deadline.secondsLeft(after: 0) == 23.5)
        #expect(deadline.secondsLeft(after: 20) == 3.5)
    }

    @Test func `A fetch that cannot finish before the deadline is not started`() {
        #expect(FetchDeadline(seconds: 24).secondsLeft(after: 22.6) == nil)
        #expect(FetchDeadline(seconds: 24).secondsLeft(after: 100) == nil)
        #expect(FetchDeadline(seconds: 0).secondsLeft(after: 0) == nil)
    }

    @Test func `With a short deadline, the thumbnail is fetched after half of it`() {
        #expect(FetchDeadline(seconds: 3).thumbnailAfterSeconds == 1.5)
        #expect(FetchDeadline(seconds: 8).thumbnailAfterSeconds == Limits.deviceThumbnailSeconds)
    }
}
