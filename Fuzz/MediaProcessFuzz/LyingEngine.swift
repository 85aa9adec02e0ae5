import Foundation
import FuzzSupport
import Glibc
import Linux
import MediaEngine
import MediaTypes
import Synchronization

@testable import AttachPrep
@testable import AttachPrepModel

/// A simulated compromised media process: its messages come from the input, through the real socket and validation.
///
/// Its answers are sent before the call. It writes into the output files before it answers, and again at the end.
final class LyingEngine: MediaEngine, @unchecked Sendable {
    /// Calls of one request are sequential or, for a few, concurrent.
    private let lock = NSLock()
    private var input = FuzzInput([])
    private var format = MediaFormat.jpeg
    /// Outputs that a real media process would still have open.
    private var kept: [CInt] = []

    /// An idle process; its socket ends it when this process ends.
    private static let process: ChildProcess = {
        do {
            let (ours, theirs) = try MessageSocket.pair()
            let process = try ChildProcess.spawn(
                path: "/bin/sh", arguments: ["-c", "exec cat <&3 >/dev/null"], socket: theirs)
            // Kept open until this process ends.
            _ = Unmanaged.passRetained(ours)
            return process
        } catch {
            Invariant.broken("the process cannot be started: \(error)")
        }
    }()

    func begin(_ input: FuzzInput) {
        lock.withLock {
            self.input = input
            let choice = Int(self.input.byte())
            format = MediaFormat.allCases[choice % MediaFormat.allCases.count]
        }
    }

    /// Changes files after the answer was accepted, as a compromised process could.
    func scribble() {
        lock.withLock {
            for descriptor in kept {
                var bytes: [UInt8] = [1, 2, 3]
                pwrite(descriptor, &bytes, 3, 0)
                ftruncate(descriptor, 2)
                close(descriptor)
            }
            kept = []
        }
    }

    func perform(_ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant) async throws -> MediaAnswer
    {
        let (ours, theirs) = try MessageSocket.pair()
        let mediaProcess = MediaProcess(process: Self.process, usage: try ProcessUsage(of: Self.process), socket: ours)
        lock.withLock { lie(to: call, descriptors, theirs) }
        let pendingCall = PendingMediaCall(
            call: call, descriptors: descriptors, deadline: min(deadline, .now + .milliseconds(15)))
        var exchange = MediaCallExchange(pendingCall, mediaProcess)
        do {
            let answer = try exchange.run()
            lock.withLock { if input.byte() & 7 == 5 { change(descriptors.dropFirst()) } }
            withExtendedLifetime(theirs) {}
            return answer
        } catch let processError as MediaProcessError {
            if processError == .deadlineExceeded, let written = exchange.written { return .rendered(written) }
            throw ProcessEndingDiagnosis.error(
                processError, ending: .killed(signal: SIGKILL), isReady: mediaProcess.isReady,
                allowance: mediaProcess.allowance)
        }
    }

    // MARK: Messages

    private func lie(to call: MediaCall, _ descriptors: [CInt], _ socket: MessageSocket) {
        let outputs = Array(descriptors.dropFirst().prefix(3))
        // Zero bytes give correct messages, so that short inputs reach deep states.
        let manner = input.byte()
        if manner & 1 == 1 { say(.ready, 0, on: socket) }
        if manner & 0xE == 0xE { sayStrangely(on: socket) }
        if case .render(let request) = call, manner & 0x30 == 0x30 {
            for _ in 0..<(1 + Int(input.byte()) % 20) {
                let media = rendered(request, outputs)
                say(.progress(media), 1, on: socket)
            }
        }
        say(content(of: call, outputs), 1, on: socket, descriptors: manner & 0xC0 == 0xC0 ? outputs : [])
        for descriptor in outputs {
            let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            if copy >= 0 { kept.append(copy) }
        }
    }

    private func say(
        _ content: MediaAnswerMessage.Content, _ number: Int, on socket: MessageSocket, descriptors: [CInt] = []
    ) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(MediaAnswerMessage(number: number, content)) else {
            Invariant.broken("a correct message can be encoded")
        }
        var tree = JSONTree(Array(data))
        let changes = Int(input.byte()) % 9
        for _ in 0..<changes { tree.spoil(&input) }
        try? socket.send(Array(tree.text.utf8), descriptors: descriptors, waits: false)
    }

    /// Sends data that is not a valid message.
    private func sayStrangely(on socket: MessageSocket) {
        switch input.byte() % 8 {
        case 0: say(.ready, 0, on: socket)
        case 1: try? socket.send((0..<input.byte()).map { _ in input.byte() }, waits: false)
        case 2: try? socket.send([UInt8](repeating: 0x20, count: Limits.mediaProcessMessageBytesMax), waits: false)
        case 3: try? socket.send([UInt8](repeating: 0x5B, count: Limits.mediaProcessMessageBytesMax + 1), waits: false)
        case 4: try? socket.send([UInt8](repeating: 0x5B, count: 100_000), waits: false)
        case 5: try? socket.send(Array("{\"number\":1,\"content\":{\"failure\":".utf8), waits: false)
        case 6: shutdown(socket.descriptor, Int32(SHUT_RDWR))
        default: say(.answer(.identified(IdentifiedMedia(format: .gif, magicMIMEType: "x"))), 1, on: socket)
        }
    }

    // MARK: Answers

    private func content(of call: MediaCall, _ outputs: [CInt]) -> MediaAnswerMessage.Content {
        if input.byte() == 0xEE {
            let codes = ErrorCode.allCases
            let code = codes[Int(input.byte()) % codes.count]
            return .failure(AttachPrepError(code, "A fuzzed error.", detail: "\(code)"))
        }
        switch call {
        case .identify:
            return .answer(.identified(IdentifiedMedia(format: format, magicMIMEType: format.mimeType)))
        case .inspect(let request):
            let media = inspected()
            guard let expected = request.expected, !outputs.isEmpty, input.byte() & 1 == 1 else {
                return .answer(.inspected(media))
            }
            let render = expected.request(format: format, duration: media.duration)
            return .answer(
                .inspected(media, EarlyRender(request: render, media: rendered(render, outputs))))
        case .render(let request): return .answer(.rendered(rendered(request, outputs)))
        case .describe: return .answer(.described(EngineDescription(libraries: [], abilities: [])))
        }
    }

    private func inspected() -> InspectedMedia {
        var media = InspectedMedia(format: format)
        let choices = input.byte()
        if format.kind != .audio { (media.width, media.height) = (640, 480) }
        if format.kind == .image, choices & 1 == 1 {
            (media.frames, media.frameDelaysMilliseconds, media.loopCount, media.duration) = (4, [100, 0, 7, 50], 0, 1)
        }
        if format.kind != .image {
            media.duration = 12.5
            media.audio = [AudioStream(codec: "aac", channels: 2, sampleRate: 48_000, bitRate: 128_000)]
        }
        if format.kind == .movie {
            var video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 640, storedHeight: 480)
            (video.frameRate, video.lastFrameTime, video.profile, video.pixelFormat) = (30, 12.4, "High", "yuv420p")
            media.video = video
        }
        media.hasLocation = choices & 2 != 0
        media.hasMetadata = choices & 4 != 0
        media.orientation = Orientation.allCases[Int(choices >> 5) % Orientation.allCases.count]
        if choices & 8 != 0 { media.damage = MediaDamage(declaredDuration: 20) }
        media.hasCoverArt = choices & 16 != 0
        return media
    }

    private func rendered(_ request: RenderRequest, _ outputs: [CInt]) -> RenderedMedia {
        var media = RenderedMedia()
        for (output, descriptor) in zip(request.outputs, outputs) {
            let count = 1 + Int(input.byte())
            let bytes = [UInt8](repeating: 0xAB, count: count)
            ftruncate(descriptor, 0)
            _ = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
            let picture = RenderedImage(type: .jpeg, width: 300, height: 225, bytes: count)
            switch output {
            case .thumbnail: media.thumbnail = picture
            case .crop: media.crop = picture
            case .target(let key): media.targets[key] = picture
            case .attachment:
                let types: [AttachmentType] = [.jpeg, .gif, .mpeg4, .mpeg4Audio]
                let index = request.attachment.map { rendition in
                    switch rendition {
                    case .still: 0
                    case .animation: 1
                    case .movie: 2
                    case .audio: 3
                    }
                }
                var attachment = RenderedAttachment(type: types[index ?? 0], bytes: count)
                (attachment.width, attachment.height) = (640, 480)
                if index != 0 { attachment.duration = 12.5 }
                media.attachment = attachment
            }
        }
        if case .movieTime(let seconds) = request.frameSelection { media.sourcePosition = .seconds(seconds) }
        if case .representative = request.frameSelection { media.sourcePosition = .seconds(7) }
        if case .animationFrame(let number) = request.frameSelection { media.sourcePosition = .frame(number) }
        if input.byte() & 1 == 1 { media.attachmentPosition = media.sourcePosition }
        if input.byte() & 3 == 3 {
            media.reductions = ["the sound was left out"]
            media.isDegraded = true
        }
        return media
    }

    /// Changes the length of files after it was reported.
    private func change(_ outputs: ArraySlice<CInt>) {
        for descriptor in outputs { ftruncate(descriptor, off_t(input.byte()) * 3) }
    }
}
