import Glibc
import MediaEngine
import RichPush

/// The second step: what the file is, whether it is sound, and a movie's thumbnail where that comes along.
struct InspectStep: Sendable {
    let request: AttachmentRequest
    let source: FetchedSource
    let engine: any MediaEngine
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    func run() async throws -> (media: InspectedMedia, early: EarlyThumbnail?) {
        let format = source.identified.format
        let expected = ThumbnailExpectation(format: format, bytes: source.bytes, request: request).thumbnail
        let question = InspectRequest(format: format, decodesStills: false, expected: expected)
        return try await withDeadline(deadline, stage: "inspection") {
            guard expected != nil else {
                return (try await engine.inspect(question, source: source.descriptor, deadline: deadline), nil)
            }
            let file = OpenFile(descriptor: try staging.createNameless())
            let (media, early) = try await engine.inspect(
                question, source: source.descriptor, thumbnail: file.descriptor, deadline: deadline)
            return (media, early.map { EarlyThumbnail($0, in: file) })
        }
    }
}
