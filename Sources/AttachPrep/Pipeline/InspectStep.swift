import Glibc
import MediaEngine
import RichPush

/// The second step: what the file is, whether it is sound, and a movie's thumbnail where that comes along.
struct InspectStep: Sendable {
    let question: InspectRequest
    /// Open for reading.
    let source: CInt
    /// Where an inspection waits for what is still to come of the source; nil when it is whole.
    var arrivals: CInt?
    let engine: any MediaEngine
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// What is asked of a source.
    static func question(format: MediaFormat?, bytes: Int, for request: AttachmentRequest) -> InspectRequest {
        let expected = ThumbnailExpectation(format: format, bytes: bytes, request: request).thumbnail
        return InspectRequest(format: format, decodesStills: false, expected: expected)
    }

    func run() async throws -> (media: InspectedMedia, early: EarlyThumbnail?) {
        try await withDeadline(deadline, stage: "inspection") {
            let file = try question.expected.map { _ in OpenFile(descriptor: try staging.createNameless()) }
            let (media, early) = try await engine.inspect(
                question, source: source, thumbnail: file?.descriptor, arrivals: arrivals, deadline: deadline)
            return (media, file.flatMap { file in early.map { EarlyThumbnail($0, in: file) } })
        }
    }
}
