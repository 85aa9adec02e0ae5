import MediaEngine
import MediaTypes
import Testing

@testable import AttachPrep

struct EarlyProcessingPolicyTests {
    @Test(arguments: [
        // 5 MB at 100 Mbit/s: due when half of it was received.
        (bytes: 2_600_000, total: 5_000_000, seconds: 0.208, isDue: true),
        (bytes: 1_000_000, total: 5_000_000, seconds: 0.08, isDue: false),
        // On 3G: not due until the end.
        (bytes: 4_000_000, total: 5_000_000, seconds: 20, isDue: false),
        (bytes: 4_980_000, total: 5_000_000, seconds: 25, isDue: true),
        // On the same machine: due as soon as the headers were received.
        (bytes: 100_000, total: 5_000_000, seconds: 0.0001, isDue: false),
        (bytes: 300_000, total: 5_000_000, seconds: 0.0003, isDue: true),
        // Small files are decoded too fast for early processing to pay off.
        (bytes: 300_000, total: 400_000, seconds: 0.01, isDue: false),
    ])
    func `Early processing of an image starts when its download is about to end`(
        _ row: (bytes: Int, total: Int, seconds: Double, isDue: Bool)
    ) {
        #expect(EarlyProcessingPolicy.isDue(.image, bytes: row.bytes, of: row.total, in: row.seconds) == row.isDue)
    }

    @Test func `Early processing of a movie starts sooner, since it takes longer`() {
        #expect(EarlyProcessingPolicy.isDue(.movie, bytes: 1_000_000, of: 5_000_000, in: 0.08))
        #expect(EarlyProcessingPolicy.isDue(.movie, bytes: 1_000_000, of: 50_000_000, in: 0.08) == false)
    }

    @Test(arguments: [MediaFormat.mpeg4, .m4v, .quickTime])
    func `A movie that may have its index at the front is inspected early`(format: MediaFormat) throws {
        let request = AttachmentRequest(source: "https://cdn.example/a")
        let query = InspectStep.query(format: format, bytes: 5_000_000, for: request)
        #expect(EarlyProcessingPolicy.plannedWork(format, bytes: 5_000_000, for: request) == .inspection(query))
        #expect(query.expected != nil && query.downloadingBytes == nil)
    }

    @Test(arguments: [MediaFormat.jpeg, .png])
    func `The early thumbnail of an unchanged image is the one that the plan requests`(format: MediaFormat) throws {
        let request = AttachmentRequest(source: "https://cdn.example/a")
        var media = InspectedMedia(format: format)
        (media.width, media.height, media.frames) = (4000, 3000, 1)
        let plan = PreparationPlan(media: media, bytes: 5_000_000, request: request)
        #expect(
            EarlyProcessingPolicy.plannedWork(format, bytes: 5_000_000, for: request)
                == plan.images.map(EarlyWork.thumbnail))
        #expect(plan.images != nil)
    }

    @Test(arguments: [MediaFormat.webp, .heic, .matroska, .avi, .mp3, .gif])
    func `Other formats are not processed early`(format: MediaFormat) {
        let request = AttachmentRequest(source: "https://a.example/")
        #expect(EarlyProcessingPolicy.plannedWork(format, bytes: 1_000_000, for: request) == nil)
    }

    @Test func `An image that needs more than a thumbnail is not processed early`() throws {
        var cropped = AttachmentRequest(source: "https://a.example/")
        cropped.options.crop = .part(try ClippingRect(x: 0, y: 0, width: 0.5, height: 1))
        #expect(EarlyProcessingPolicy.plannedWork(.jpeg, bytes: 1_000_000, for: cropped) == nil)
        var display = AttachmentRequest(source: "https://a.example/")
        display.rendition = .display
        #expect(EarlyProcessingPolicy.plannedWork(.jpeg, bytes: 9_000_000, for: display) == nil)
        let large = AttachmentRequest(source: "https://a.example/")
        #expect(EarlyProcessingPolicy.plannedWork(.jpeg, bytes: Limits.imageBytesMax + 1, for: large) == nil)
    }
}
