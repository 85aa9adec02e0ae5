import MediaEngine
import RichPush
import Testing

@testable import AttachPrep

struct EarlyStartTests {
    @Test(arguments: [
        // 5 MB at 100 Mbit/s: the rest is near when half of it is there.
        (bytes: 2_600_000, total: 5_000_000, seconds: 0.208, isDue: true),
        (bytes: 1_000_000, total: 5_000_000, seconds: 0.08, isDue: false),
        // On 3G it never is, until the end.
        (bytes: 4_000_000, total: 5_000_000, seconds: 20, isDue: false),
        (bytes: 4_980_000, total: 5_000_000, seconds: 25, isDue: true),
        // At once on the same machine, when the headers are there.
        (bytes: 100_000, total: 5_000_000, seconds: 0.0001, isDue: false),
        (bytes: 300_000, total: 5_000_000, seconds: 0.0003, isDue: true),
        // What is small is decoded sooner than it is worth while.
        (bytes: 300_000, total: 400_000, seconds: 0.01, isDue: false),
    ])
    func `Work begins when the rest of a picture is near`(
        _ row: (bytes: Int, total: Int, seconds: Double, isDue: Bool)
    ) {
        #expect(EarlyProcessingPolicy.isDue(.image, bytes: row.bytes, of: row.total, in: row.seconds) == row.isDue)
    }

    @Test func `Work on a movie begins earlier, since it takes longer`() {
        #expect(EarlyProcessingPolicy.isDue(.movie, bytes: 1_000_000, of: 5_000_000, in: 0.08))
        #expect(EarlyProcessingPolicy.isDue(.movie, bytes: 1_000_000, of: 50_000_000, in: 0.08) == false)
    }

    @Test(arguments: [MediaFormat.mpeg4, .m4v, .quickTime])
    func `Of a movie that may have its index in front, the inspection is begun`(format: MediaFormat) throws {
        let request = AttachmentRequest(source: "https://cdn.example/a")
        let query = InspectStep.query(format: format, bytes: 5_000_000, for: request)
        #expect(EarlyProcessingPolicy.work(format, bytes: 5_000_000, for: request) == .inspection(query))
        #expect(query.expected != nil && query.arrivingBytes == nil)
    }

    @Test(arguments: [MediaFormat.jpeg, .png])
    func `The thumbnail of a picture that is passed is what the plan will ask for`(format: MediaFormat) throws {
        let request = AttachmentRequest(source: "https://cdn.example/a")
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (4000, 3000, 1)
        let plan = PreparationPlan(media: media, bytes: 5_000_000, request: request)
        #expect(
            EarlyProcessingPolicy.work(format, bytes: 5_000_000, for: request) == plan.images.map(EarlyWork.thumbnail))
        #expect(plan.images != nil)
    }

    @Test(arguments: [MediaFormat.webp, .heic, .matroska, .avi, .mp3, .gif])
    func `Other formats are waited for`(format: MediaFormat) {
        #expect(
            EarlyProcessingPolicy.work(format, bytes: 1_000_000, for: AttachmentRequest(source: "https://a.example/"))
                == nil)
    }

    @Test func `A picture of which more is made is waited for`() throws {
        var cropped = AttachmentRequest(source: "https://a.example/")
        cropped.options.crop = .part(try ClippingRect(x: 0, y: 0, width: 0.5, height: 1))
        #expect(EarlyProcessingPolicy.work(.jpeg, bytes: 1_000_000, for: cropped) == nil)
        var display = AttachmentRequest(source: "https://a.example/")
        display.rendition = .display
        #expect(EarlyProcessingPolicy.work(.jpeg, bytes: 9_000_000, for: display) == nil)
        let large = AttachmentRequest(source: "https://a.example/")
        #expect(EarlyProcessingPolicy.work(.jpeg, bytes: Limits.imageBytesMax + 1, for: large) == nil)
    }
}
