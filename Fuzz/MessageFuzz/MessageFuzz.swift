import FuzzSupport
import MediaEngine
import MediaTypes

@testable import AttachPrep
@testable import AttachPrepModel

/// Fuzzes the messages between parent and media process: answers of a compromised process, and calls.
@main enum MessageFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            if input.byte() % 4 == 1 {
                try checkCall(input.rest())
            } else {
                try checkAnswer(input.rest())
            }
        }
    }

    private static func checkCall(_ bytes: [UInt8]) throws {
        guard let message = try? MediaMessageCoding.decode(MediaCallMessage.self, from: bytes) else { return }
        let written = try MediaMessageCoding.encode(message)
        Invariant.hold(
            try MediaMessageCoding.decode(MediaCallMessage.self, from: written) == message, "a call reads the same")
        _ = ContinuousClock.now + .milliseconds(message.millisecondsLeft)
        if case .render(let request) = message.call {
            Invariant.hold(request.outputs.count <= 3, "three outputs at most")
        }
    }

    private static func checkAnswer(_ bytes: [UInt8]) throws {
        guard let message = try? MediaMessageCoding.decode(MediaAnswerMessage.self, from: bytes) else { return }
        let written = try MediaMessageCoding.encode(message)
        Invariant.hold(
            try MediaMessageCoding.decode(MediaAnswerMessage.self, from: written) == message, "an answer reads the same"
        )
        for pendingCall in jobs {
            guard let content = try? AnswerValidation(pendingCall: pendingCall).validated(message.content) else {
                continue
            }
            switch content {
            case .answer(.inspected(let media, _)): plan(media)
            case .progress(let rendered), .answer(.rendered(let rendered)): publish(rendered)
            case .work(let report): allow(report, for: pendingCall)
            case .answer, .failure, .ready: break
            }
        }
    }

    /// No report takes processor time back, or allows an endless time.
    private static func allow(_ report: WorkReport, for pendingCall: PendingMediaCall) {
        var allowance = ProcessorAllowance(pendingCall.call, bytes: pendingCall.sourceBytes)
        let before = allowance.seconds
        allowance.record(report)
        Invariant.hold(before <= allowance.seconds && allowance.seconds.isFinite, "a report allows more, and not all")
    }

    /// A pending call of each kind; the outputs of the render have 100 bytes.
    private static let jobs: [PendingMediaCall] = {
        let file = output.descriptor
        var render = RenderRequest(format: .jpeg, frameSelection: .still)
        render.attachment = .still(StillRendition(bytesMax: 1_000))
        render.thumbnail = ThumbnailRendition(width: 30, height: 30, fit: .contain)
        render.crop = .smart(.square)
        let calls: [MediaCall] = [
            .inspect(InspectRequest(format: nil, decodesStills: false)), .render(render), .describe,
            .identify(IdentifyRequest(availableBytes: 9, isComplete: true)),
        ]
        return calls.map { PendingMediaCall(call: $0, descriptors: [file, file, file, file], deadline: .now) }
    }()

    nonisolated(unsafe) private static let output: MemoryFile = {
        let file = MemoryFile()
        file.replace(with: [(0, [UInt8](repeating: 1, count: 100))])
        return file
    }()

    /// Every request must have a plan for any inspection result.
    private static func plan(_ media: InspectedMedia) {
        for request in requests {
            for bytes in [1, 4_000_000, 400_000_000] {
                let plan = PreparationPlan(media: media, bytes: bytes, request: request)
                Invariant.hold((plan.error != nil) == (plan.outcome == .rejected), "a plan is one or an error")
                if let type = plan.passedType { Invariant.hold(bytes <= type.bytesMax, "nothing over Apple's limit") }
            }
        }
    }

    private static let requests: [AttachmentRequest] = {
        var requests: [AttachmentRequest] = []
        for time in [nil, .auto, .at(0), .at(2.5), .at(1e12)] as [ThumbnailTimeChoice?] {
            for rendition in RequestedRendition.allCases {
                for animation in AnimationTarget.allCases {
                    var request = AttachmentRequest(source: "a")
                    request.options.thumbnailTime = time
                    request.options.animation = animation
                    request.options.crop = .smart(.square)
                    request.rendition = rendition
                    requests.append(request)
                }
            }
        }
        return requests
    }()

    /// Performs the calculations of the publish step.
    private static func publish(_ rendered: RenderedMedia) {
        for position in [rendered.sourcePosition, rendered.attachmentPosition] {
            if case .seconds(let seconds) = position { _ = MovieTime(seconds: seconds) }
        }
        if let rect = rendered.clippingRect {
            for orientation in Orientation.allCases { _ = try? orientation.storedRect(ofUpright: rect) }
        }
        if let attachment = rendered.attachment {
            _ = NetworkProfile.deviceFetch(bytes: attachment.bytes)
            _ = attachment.bytes.grouped
        }
    }
}
