import Foundation
import Glibc
import MediaEngine
import RichPush
import Synchronization

/// An engine whose answers a test writes down beforehand: what a real one does in time is then no question.
final class FakeEngine: MediaEngine {
    /// What becomes of a render; the first rule that fits decides.
    struct Rule: Sendable {
        let fits: @Sendable (RenderRequest) -> Bool
        let error: AttachPrepError?
        /// Whether the time was over once the pictures were written.
        var lacksAttachment = false
    }

    private let media: InspectedMedia
    private let rules: [Rule]
    private let early: RenderRequest?
    private let asked = Mutex<[RenderRequest]>([])

    /// - Parameter early: What inspection renders, where a thumbnail is expected.
    init(_ media: InspectedMedia, _ rules: [Rule] = [], early: RenderRequest? = nil) {
        self.media = media
        self.rules = rules
        self.early = early
    }

    /// The renders it was asked for.
    var renders: [RenderRequest] { asked.withLock { $0 } }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        switch call {
        case .identify: return .identified(IdentifiedMedia(format: media.format, magicMIMEType: ""))
        case .inspect(let request):
            guard let early, request.expected != nil else { return .inspected(media) }
            let rendered = written(early, Array(descriptors.dropFirst()), nil)
            return .inspected(media, EarlyRender(request: early, media: rendered))
        case .render(let request): return .rendered(try render(request, Array(descriptors.dropFirst())))
        case .describe: return .described(EngineDescription(libraries: [], abilities: []))
        }
    }

    private func render(_ request: RenderRequest, _ outputs: [CInt]) throws -> RenderedMedia {
        asked.withLock { $0.append(request) }
        let rule = rules.first { $0.fits(request) }
        if let error = rule?.error { throw error }
        return written(request, outputs, rule)
    }

    private func written(_ request: RenderRequest, _ outputs: [CInt], _ rule: Rule?) -> RenderedMedia {
        var rendered = RenderedMedia()
        for (output, descriptor) in zip(request.outputs, outputs) {
            let text = Array("\(output)".utf8)
            _ = text.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            let picture = RenderedImage(type: .jpeg, width: 30, height: 20, bytes: text.count)
            switch output {
            case .thumbnail: rendered.thumbnail = picture
            case .crop: rendered.crop = picture
            case .attachment where rule?.lacksAttachment == true: break
            case .attachment: rendered.attachment = attachment(request, bytes: text.count)
            }
        }
        if case .movieTime(let time) = request.picture { rendered.sourcePosition = .seconds(time) }
        if case .representative = request.picture { rendered.sourcePosition = .seconds(7) }
        if request.outputs == [.attachment] { rendered.attachmentPosition = rendered.sourcePosition }
        return rendered
    }

    private func attachment(_ request: RenderRequest, bytes: Int) -> RenderedAttachment {
        switch request.attachment {
        case .still, nil: RenderedAttachment(RenderedImage(type: .jpeg, width: 30, height: 20, bytes: bytes))
        case .animation: RenderedAttachment(type: .gif, bytes: bytes)
        case .movie: RenderedAttachment(type: .mpeg4, bytes: bytes)
        case .audio: RenderedAttachment(type: .mpeg4Audio, bytes: bytes)
        }
    }
}
