import AttachPrep
import Foundation
import Glibc
import MediaEngine
import RichPush
import TestSupport
import Testing

/// A child that a file took over says what it likes; it is buried, and nothing of it reaches us.
@Suite(.timeLimit(.minutes(1))) struct HostileChildTests {
    private static func openDescriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }

    /// A call to a child that answers it so.
    private func expectBuried(_ script: String, _ call: MediaCall = .describe) async throws {
        try await ScriptedChild(script).withPool { pool in
            let source = open(SourceTree.sample("grid.png"), O_RDONLY | O_CLOEXEC)
            defer { close(source) }
            let error = await #expect(throws: AttachPrepError.self, "\(script)") {
                try await pool.perform(call, descriptors: [source], deadline: .now + .seconds(60))
            }
            #expect(error?.code == .mediaDecoderCrashed, "\(script): \(String(describing: error))")
        }
    }

    @Test func `Descriptors it sends are never opened here`() async throws {
        let child = try ScriptedChild(
            """
            for number in range(1, 40):
                hear()
                data = json.dumps({'number': number, 'content': described}).encode()
                rights = array.array('i', [0] * 100)
                parent.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            pause()
            """)
        try await child.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            let before = try Self.openDescriptors()
            for _ in 0..<30 { _ = try await pool.describe(deadline: .now + .seconds(60)) }
            #expect(try Self.openDescriptors() - before < 30)
        }
    }

    @Test(arguments: [
        "hear(); send(b'nonsense'); pause()",
        "hear(); send(b'[' * 100000); pause()",
        "hear(); send(b'{\"number\": 1, \"content\": ' + b'{\"a\":' * 20000); pause()",
        "hear(); send(b' ' * 131073); pause()",
        "hear(); say(1, ready); pause()",
        "hear(); say(0, ready); pause()",
    ]) func `What is no message of ours`(script: String) async throws {
        try await expectBuried(script)
    }

    @Test func `An answer to another call`() async throws {
        for number in ["0", "2", "-1", "9223372036854775807"] {
            try await expectBuried("hear(); say(\(number), described); pause()")
        }
    }

    @Test func `An answer of an earlier call is not taken for a later one's`() async throws {
        // The second answer lies in the socket when the second call is made, or is heard before.
        let child = try ScriptedChild("hear(); say(1, described); say(1, described); hear(); pause()")
        try await child.withPool { pool in
            _ = try await pool.describe(deadline: .now + .seconds(60))
            do {
                _ = try await pool.describe(deadline: .now + .seconds(60))
                #expect(child.processIDs.count == 2)
            } catch let error as AttachPrepError {
                #expect(error.code == .mediaDecoderCrashed)
            }
        }
    }

    @Test func `Calls that it answers without taking them do not hold us up`() async throws {
        // It looks at a call where it lies, so that they pile up until no more fit.
        let child = try ScriptedChild(
            """
            import fcntl, struct, termios
            def queued(): return struct.unpack('i', fcntl.ioctl(3, termios.FIONREAD, bytes(4)))[0]
            seen = 0
            for number in range(1, 100000):
                while queued() == seen: time.sleep(0.001)
                seen = queued()
                say(number, described)
            """)
        try await child.withPool { pool in
            var error: AttachPrepError?
            while error == nil {
                do {
                    _ = try await pool.describe(deadline: .now + .seconds(60))
                } catch let thrown as AttachPrepError { error = thrown }
            }
            #expect(error?.code == .mediaDecoderCrashed)
        }
    }

    @Test func `Progress without end`() async throws {
        let media = try ScriptedChild.python(RenderedMedia())
        try await expectBuried(
            "hear()\nwhile True: say(1, {'progress': {'_0': \(media)}})",
            .render(RenderRequest(format: .png, picture: .still)))
    }

    @Test func `An answer to another question`() async throws {
        try await expectBuried("hear(); say(1, described); pause()", .identify(.whole))
        let media = try ScriptedChild.python(RenderedMedia())
        try await expectBuried("hear(); say(1, {'progress': {'_0': \(media)}}); pause()", .identify(.whole))
    }

    @Test(arguments: [ErrorCode.cancelled, .mediaQuarantined, .mediaDecoderCrashed, .sourceNotFound, .downloadTLS])
    func `An error that is not a child's to say`(code: ErrorCode) async throws {
        let error = try ScriptedChild.python(AttachPrepError(code, "No.", isRetryable: true))
        try await expectBuried("hear(); say(1, {'failure': {'_0': \(error)}}); pause()")
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
    ]) func `Numbers that no file has`(field: String) async throws {
        let media = try ScriptedChild.python(InspectedMedia(format: .mpeg4))
        try await expectBuried(
            """
            hear(); media = \(media); media.update({\(field)})
            say(1, {'answer': {'_0': {'inspected': {'_0': media}}}}); pause()
            """, .inspect(InspectRequest(format: .mpeg4, decodesStills: false)))
    }

    @Test func `A thumbnail that nobody expected, or that is not there`() async throws {
        let media = try ScriptedChild.python(InspectedMedia(format: .mpeg4))
        let expected = ExpectedThumbnail(box: ThumbnailRendition(width: 30, height: 30, fit: .contain), seconds: 1)
        var rendered = RenderedMedia()
        rendered.thumbnail = RenderedImage(type: .jpeg, width: 30, height: 20, bytes: 7)
        let early = try ScriptedChild.python(
            EarlyRender(request: expected.request(format: .mpeg4, duration: 4), media: rendered))
        for expected in [nil, expected] {
            try await expectBuried(
                "hear(); say(1, {'answer': {'_0': {'inspected': {'_0': \(media), '_1': \(early)}}}}); pause()",
                .inspect(InspectRequest(format: .mpeg4, decodesStills: false, expected: expected)))
        }
    }

    @Test(arguments: [
        "'firstFrameTime': 1e200", "'lastFrameTime': -1e12", "'bitDepth': -1", "'sampleAspectRatio': -1.0",
        "'frameRate': 1e12", "'storedWidth': 0",
    ]) func `Numbers that no movie has`(field: String) async throws {
        var media = InspectedMedia(format: .mpeg4)
        media.video = VideoStream(codec: "h264", codecTag: "avc1", storedWidth: 64, storedHeight: 48)
        try await expectBuried(
            """
            hear(); media = \(ScriptedChild.python(media)); media['video'].update({\(field)})
            say(1, {'answer': {'_0': {'inspected': {'_0': media}}}}); pause()
            """, .inspect(InspectRequest(format: .mpeg4, decodesStills: false)))
    }

    @Test func `Renditions that nobody asked for, or that are not there`() async throws {
        var media = RenderedMedia()
        media.thumbnail = RenderedImage(type: .jpeg, width: 3, height: 2, bytes: 7)
        let answer = "{'answer': {'_0': {'rendered': {'_0': \(try ScriptedChild.python(media))}}}}"
        let script = "hear(); say(1, \(answer)); pause()"
        var request = RenderRequest(format: .png, picture: .still)
        try await expectBuried(script, .render(request))
        request.thumbnail = ThumbnailRendition(width: 3, height: 3, fit: .contain)
        try await expectBuried(script, .render(request))
    }

    @Test func `Its sentences are bounded and hold no control characters`() async throws {
        try await ScriptedChild(
            """
            hear()
            error = {'code': 'media.corrupt', 'message': 'a\\x1b[2Jb' * 2000, 'detail': 'd' * 90000}
            say(1, {'failure': {'_0': dict(error, isRetryable=False)}}); pause()
            """
        ).withPool { pool in
            let error = await #expect(throws: AttachPrepError.self) {
                try await pool.describe(deadline: .now + .seconds(60))
            }
            #expect(error?.message.hasPrefix("a?[2Jba?[2Jb") == true)
            #expect(error?.message.count == 500 && error?.detail?.count == 2_000)
        }
    }
}

extension IdentifyRequest {
    fileprivate static let whole = IdentifyRequest(availableBytes: 100, isComplete: true)
}
