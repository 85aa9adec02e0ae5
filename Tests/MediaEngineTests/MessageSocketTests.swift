import AttachPrepModel
import Foundation
import Glibc
import Linux
import MediaEngine
import MediaTypes
import TestSupport
import Testing

struct MessageSocketTests {
    @Test func `A message arrives complete, with its descriptors`() throws {
        let (one, other) = try MessageSocket.pair()
        var pipeEnds: [CInt] = [0, 0]
        try #require(pipe(&pipeEnds) == 0)
        defer { pipeEnds.forEach { close($0) } }
        try one.send([1, 2, 3], descriptors: [pipeEnds[1]])
        let message = try #require(try other.receive(bytesMax: 100))
        #expect(message.bytes == [1, 2, 3])
        let descriptor = try #require(message.descriptors.first)
        defer { close(descriptor) }
        // The same pipe under another number.
        #expect(write(descriptor, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(pipeEnds[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
    }

    @Test func `A closed peer is the end, not an error`() throws {
        let one: MessageSocket
        do { (one, _) = try MessageSocket.pair() }
        #expect(try one.receive(bytesMax: 10) == nil)
    }

    @Test func `A message over the size limit is rejected`() throws {
        let (one, other) = try MessageSocket.pair()
        try one.send([UInt8](repeating: 7, count: 64))
        #expect(throws: SystemError.self) { try other.receive(bytesMax: 10) }
    }

    @Test func `Descriptors from an untrusted peer are never opened`() throws {
        let (one, other) = try MessageSocket.pair()
        let before = Self.openDescriptors
        try other.send([1, 2], descriptors: [STDERR_FILENO, STDERR_FILENO, STDERR_FILENO])
        #expect(try one.receiveBytes(bytesMax: 10) == [1, 2])
        #expect(Self.openDescriptors == before)
    }

    @Test func `Descriptors of a rejected message are closed`() throws {
        let (one, other) = try MessageSocket.pair()
        var code: CInt = 0
        let before = Self.openDescriptors
        // The message is over the limit, so that its descriptors are closed.
        try other.send([UInt8](repeating: 1, count: 20), descriptors: [STDERR_FILENO, STDERR_FILENO])
        do { _ = try one.receive(bytesMax: 10) } catch { code = error.code }
        #expect(code == EMSGSIZE && Self.openDescriptors == before)
    }

    private static var openDescriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? -1
    }

    @Test func `Waiting ends at the deadline`() throws {
        let (one, other) = try MessageSocket.pair()
        #expect(try one.waitUntilReadable(deadline: .now + .milliseconds(1)) == false)
        try other.send([1])
        #expect(try one.waitUntilReadable(deadline: .now + .seconds(60)))
    }

    @Test func `Calls and answers are encoded and decoded unchanged`() throws {
        var render = RenderRequest(format: .mpeg4, frameSelection: .movieTime(1.5))
        render.crop = .part(try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1))
        render.thumbnail = ThumbnailRendition(width: 300, height: 200, fit: .cover)
        let call = MediaCallMessage(number: 7, call: .render(render), millisecondsLeft: 30_000)
        #expect(try MediaMessageCoding.decode(MediaCallMessage.self, from: MediaMessageCoding.encode(call)) == call)
        let answer = MediaAnswerMessage(
            number: 7, .failure(AttachPrepError(.mediaCorrupt, "Broken.", detail: "why")))
        #expect(
            try MediaMessageCoding.decode(MediaAnswerMessage.self, from: MediaMessageCoding.encode(answer)) == answer)
    }

    @Test func `The longest answer, an animation's delays, fits the message limit`() throws {
        var media = InspectedMedia(format: .gif)
        media.frameDelaysMilliseconds = [Int](repeating: 655_350, count: Limits.animationFramesMax)
        let answer = MediaAnswerMessage(number: .max, .answer(.inspected(media)))
        #expect(try MediaMessageCoding.encode(answer).count <= Limits.mediaProcessMessageBytesMax)
    }
}
