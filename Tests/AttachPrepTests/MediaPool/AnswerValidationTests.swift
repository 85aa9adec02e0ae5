import AttachPrep
import AttachPrepModel
import Foundation
import Glibc
import MediaEngine
import MediaTypes
import TestSupport
import Testing

/// A compromised media process sends arbitrary messages: it is ended, and none of them is accepted.
@Suite(.timeLimit(.minutes(1))) struct AnswerValidationTests {
    private static func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// Calls a process that runs the script; the process must be ended, and the call fail as a crash.
    private func expectEnded(_ script: String, _ call: MediaCall = .describe) async throws {
        try await ScriptedMediaProcess(script).withPool { pool in
            let source = open(SourceTree.sample("grid.png"), O_RDONLY | O_CLOEXEC)
            defer { close(source) }
            let error = await #expect(throws: AttachPrepError.self, "\(script)") {
                try await pool.perform(call, descriptors: [source], deadline: .now + .seconds(60))
            }
            #expect(error?.code == .mediaDecoderCrashed, "\(script): \(String(describing: error))")
        }
    }

    @Test func `Descriptors sent by a media process are never opened`() async throws {
        let mediaProcess = try ScriptedMediaProcess(
            """
            for number in range(1, 40):
                receive()
                data = json.dumps({'number': number, 'content': described}).encode()
                rights = array.array('i', [0] * 100)
                parent.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            pause()
            """)
        try await mediaProcess.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            let before = try Self.openDescriptors()
            for _ in 0..<30 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            #expect(try Self.openDescriptors() - before < 30)
        }
    }

    @Test(arguments: [
        "receive(); send(b'nonsense'); pause()",
        "receive(); send(b'[' * 100000); pause()",
        "receive(); send(b'{\"number\": 1, \"content\": ' + b'{\"a\":' * 20000); pause()",
        "receive(); send(b' ' * 131073); pause()",
        "receive(); reply(1, ready); pause()",
        "receive(); reply(0, ready); pause()",
    ]) func `An invalid message is rejected`(script: String) async throws {
        try await expectEnded(script)
    }

    @Test func `An answer with another call's number is rejected`() async throws {
        for number in ["0", "2", "-1", "9223372036854775807"] {
            try await expectEnded("receive(); reply(\(number), described); pause()")
        }
    }

    @Test func `An answer to an earlier call is not used for a later one`() async throws {
        // The second answer waits in the socket when the second call is made, or is received before.
        let mediaProcess = try ScriptedMediaProcess(
            "receive(); reply(1, described); reply(1, described); receive(); pause()")
        try await mediaProcess.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            do {
                _ = try await pool.describe(deadline: .now + .seconds(60))
                #expect(mediaProcess.processIDs.count == 2)
            } catch let error as AttachPrepError {
                #expect(error.code == .mediaDecoderCrashed)
            }
        }
    }

    @Test func `Answers to unread calls do not block the pool`() async throws {
        // It peeks at the calls without reading them, so that they pile up until the socket is full.
        let mediaProcess = try ScriptedMediaProcess(
            """
            import fcntl, struct, termios
            def queued(): return struct.unpack('i', fcntl.ioctl(3, termios.FIONREAD, bytes(4)))[0]
            seen = 0
            for number in range(1, 100000):
                while queued() == seen: time.sleep(0.001)
                seen = queued()
                reply(number, described)
            """)
        try await mediaProcess.withPool { pool in
            var error: AttachPrepError?
            while error == nil {
                do {
                    _ = try await pool.describe(deadline: .now + .seconds(60))
                } catch let thrown as AttachPrepError { error = thrown }
            }
            #expect(error?.code == .mediaDecoderCrashed)
        }
    }

    @Test func `Endless progress is rejected`() async throws {
        let media = try ScriptedMediaProcess.python(RenderedMedia())
        try await expectEnded(
            "receive()\nwhile True: reply(1, {'progress': {'_0': \(media)}})",
            .render(RenderRequest(format: .png, frameSelection: .still)))
    }

    @Test func `An answer of another kind is rejected`() async throws {
        try await expectEnded("receive(); reply(1, described); pause()", .identify(.whole))
        let media = try ScriptedMediaProcess.python(RenderedMedia())
        try await expectEnded("receive(); reply(1, {'progress': {'_0': \(media)}}); pause()", .identify(.whole))
    }

    @Test(arguments: [ErrorCode.cancelled, .mediaQuarantined, .mediaDecoderCrashed, .sourceNotFound, .downloadTLS])
    func `An error code that a media process must not send is rejected`(code: ErrorCode) async throws {
        let error = try ScriptedMediaProcess.python(AttachPrepError(code, "No.", isRetryable: true))
        try await expectEnded("receive(); reply(1, {'failure': {'_0': \(error)}}); pause()")
    }

    @Test(arguments: [
        "'width': 0", "'width': -5", "'height': 10000001", "'height': 9223372036854775807", "'duration': 1e300",
        "'frames': 9223372036854775807", "'frameDelaysMilliseconds': [1, -1]", "'loopCount': -1",
        "'damage': {'declaredDuration': -1e13}", "'damage': {'declaredDuration': -1.0}",
        "'damage': {'intactShare': 1.5}", "'duration': -1e12", "'duration': -0.001", "'duration': 1e12",
        "'audio': [{'codec': 'aac', 'channels': 1, 'sampleRate': 1, 'bitRate': -1}]",
        "'audio': [{'codec': 'aac', 'channels': 1, 'sampleRate': 1, 'bitRate': 9223372036854775807}]",
        "'audio': [{'codec': 'aac', 'channels': 9223372036854775807, 'sampleRate': 1}]",
        "'audio': [{'codec': 'a', 'channels': 1, 'sampleRate': 1}] * 1001",
    ]) func `Impossible media properties are rejected`(field: String) async throws {
        let media = try ScriptedMediaProcess.python(InspectedMedia(format: .mpeg4))
        try await expectEnded(
            """
            receive(); media = \(media); media.update({\(field)})
            reply(1, {'answer': {'_0': {'inspected': {'_0': media}}}}); pause()
            """, .inspect(InspectRequest(format: .mpeg4, decodesStills: false)))
    }

    @Test func `A thumbnail that was not requested, or not written, is rejected`() async throws {
        let media = try ScriptedMediaProcess.python(InspectedMedia(format: .mpeg4))
        let expected = ExpectedThumbnail(box: ThumbnailRendition(width: 30, height: 30, fit: .contain), seconds: 1)
        var rendered = RenderedMedia()
        rendered.thumbnail = RenderedImage(type: .jpeg, width: 30, height: 20, bytes: 7)
        let early = try ScriptedMediaProcess.python(
            EarlyRender(request: expected.request(format: .mpeg4, duration: 4), media: rendered))
        for expected in [nil, expected] {
            try await expectEnded(
                "receive(); reply(1, {'answer': {'_0': {'inspected': {'_0': \(media), '_1': \(early)}}}}); pause()",
                .inspect(InspectRequest(format: .mpeg4, decodesStills: false, expected: expected)))
        }
    }

    @Test(arguments: [
        "'firstFrameTime': 1e200", "'lastFrameTime': -1e12", "'bitDepth': -1", "'sampleAspectRatio': -1.0",
        "'frameRate': 1e12", "'storedWidth': 0",
    ]) func `Impossible movie properties are rejected`(field: String) async throws {
        var media = InspectedMedia(format: .mpeg4)
        media.video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 64, storedHeight: 48)
        try await expectEnded(
            """
            receive(); media = \(ScriptedMediaProcess.python(media)); media['video'].update({\(field)})
            reply(1, {'answer': {'_0': {'inspected': {'_0': media}}}}); pause()
            """, .inspect(InspectRequest(format: .mpeg4, decodesStills: false)))
    }

    @Test func `A rendition that was not requested, or is missing, is rejected`() async throws {
        var media = RenderedMedia()
        media.thumbnail = RenderedImage(type: .jpeg, width: 3, height: 2, bytes: 7)
        let answer = "{'answer': {'_0': {'rendered': {'_0': \(try ScriptedMediaProcess.python(media))}}}}"
        let script = "receive(); reply(1, \(answer)); pause()"
        var request = RenderRequest(format: .png, frameSelection: .still)
        try await expectEnded(script, .render(request))
        request.thumbnail = ThumbnailRendition(width: 3, height: 3, fit: .contain)
        try await expectEnded(script, .render(request))
    }

    @Test func `A picture of a target that was not requested, or is missing, is rejected`() async throws {
        var media = RenderedMedia()
        media.targets["android"] = RenderedImage(type: .jpeg, width: 4, height: 2, bytes: 7)
        let answer = "{'answer': {'_0': {'rendered': {'_0': \(try ScriptedMediaProcess.python(media))}}}}"
        let script = "receive(); reply(1, \(answer)); pause()"
        var request = RenderRequest(format: .png, frameSelection: .still)
        try await expectEnded(script, .render(request))
        request.targets = [TargetRendition("android", width: 4, height: 2, bytesMax: 100, bytesAim: 100)]
        try await expectEnded(script, .render(request))
    }

    @Test func `Error texts are bounded and contain no control characters`() async throws {
        try await ScriptedMediaProcess(
            """
            receive()
            error = {'code': 'media.corrupt', 'message': 'a\\x1b[2Jb' * 2000, 'detail': 'd' * 90000}
            reply(1, {'failure': {'_0': dict(error, isRetryable=False)}}); pause()
            """
        ).withPool { pool in
            let error = await #expect(throws: AttachPrepError.self) {
                try await pool.describe(deadline: .now + .seconds(60))
            }
            #expect(error?.message.hasPrefix("a\\u{1b}[2Jba\\u{1b}[2Jb") == true)
            #expect(error?.message.count == 500 && error?.detail?.count == 2_000)
        }
    }
}

extension IdentifyRequest {
    fileprivate static let whole = IdentifyRequest(availableBytes: 100, isComplete: true)
}
