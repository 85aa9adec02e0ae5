import Foundation
import Glibc
import Linux
import MediaEngine
import RichPush
import TestSupport
import Testing

struct MessageSocketTests {
    @Test func `A message arrives whole, with its descriptors`() throws {
        let (one, other) = try MessageSocket.pair()
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { ends.forEach { close($0) } }
        try one.send([1, 2, 3], descriptors: [ends[1]])
        let message = try #require(try other.receive(bytesMax: 100))
        #expect(message.bytes == [1, 2, 3])
        let descriptor = try #require(message.descriptors.first)
        defer { close(descriptor) }
        // The same pipe under another number.
        #expect(write(descriptor, "x", 1) == 1)
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1 && byte == UInt8(ascii: "x"))
    }

    @Test func `The end of the other side is the end, not an error`() throws {
        let one: MessageSocket
        do { (one, _) = try MessageSocket.pair() }
        #expect(try one.receive(bytesMax: 10) == nil)
    }

    @Test func `A message larger than agreed is refused`() throws {
        let (one, other) = try MessageSocket.pair()
        try one.send([UInt8](repeating: 7, count: 64))
        #expect(throws: SystemError.self) { try other.receive(bytesMax: 10) }
    }

    @Test func `Descriptors from an end that is not trusted are never opened here`() throws {
        let (one, other) = try MessageSocket.pair()
        let before = Self.openDescriptors
        try other.send([1, 2], descriptors: [STDERR_FILENO, STDERR_FILENO, STDERR_FILENO])
        #expect(try one.receiveBytes(bytesMax: 10) == [1, 2])
        #expect(Self.openDescriptors == before)
    }

    @Test func `More descriptors than agreed are an error, and closed`() throws {
        let (one, other) = try MessageSocket.pair()
        var code: CInt = 0
        let before = Self.openDescriptors
        // The longest list our own end sends is four; the message is longer than agreed, and theirs are closed.
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

    @Test func `Calls and answers survive the journey`() throws {
        var render = RenderRequest(format: .mpeg4, picture: .movieTime(1.5))
        render.crop = .part(try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1))
        render.thumbnail = ThumbnailRendition(width: 300, height: 200, fit: .cover)
        let call = MediaCallMessage(number: 7, call: .render(render), millisecondsLeft: 30_000)
        #expect(try MediaMessageCoding.decode(MediaCallMessage.self, from: MediaMessageCoding.encode(call)) == call)
        let answer = MediaAnswerMessage(
            number: 7, .failure(AttachPrepError(.mediaCorrupt, "Broken.", detail: "why")))
        #expect(
            try MediaMessageCoding.decode(MediaAnswerMessage.self, from: MediaMessageCoding.encode(answer)) == answer)
    }

    @Test func `The longest answer, an animation's delays, fits the agreed size`() throws {
        var media = InspectedMedia(format: .gif)
        media.frameDelaysMilliseconds = [Int](repeating: 655_350, count: Limits.animationFramesMax)
        let answer = MediaAnswerMessage(number: .max, .answer(.inspected(media)))
        #expect(try MediaMessageCoding.encode(answer).count <= Limits.childMessageBytesMax)
    }
}

struct ChildProcessTests {
    @Test func `A child that is killed is told from one that ends`() throws {
        let (_, theirs) = try MessageSocket.pair()
        let sleeper = try ChildProcess.spawn(path: "/bin/cat", socket: theirs, environment: [:])
        sleeper.kill()
        // cat reads /dev/null and may have ended by itself before the signal came.
        #expect([.killed(signal: SIGKILL), .exited(code: 0)].contains(sleeper.reap()))
        let failing = try ChildProcess.spawn(path: "/bin/false", socket: theirs, environment: [:])
        #expect(failing.reap() == .exited(code: 1))
    }

    @Test func `An executable that is not there is an error, not a child`() throws {
        let (_, theirs) = try MessageSocket.pair()
        let error = #expect(throws: SystemError.self) {
            try ChildProcess.spawn(path: "/nonexistent/attachprep-media", socket: theirs, environment: [:])
        }
        #expect(error?.code == ENOENT)
    }
}

struct ProcessWatchTests {
    private func spawn(_ script: String) throws -> (ChildProcess, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let path = try folder.write("#!/bin/sh\n\(script)\n", to: "program")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        let (_, theirs) = try MessageSocket.pair()
        return (try ChildProcess.spawn(path: path, socket: theirs, environment: [:]), folder)
    }

    @Test func `A child that uses more processor time than it was given is ended`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        try ProcessLimits.limitProcessorTime(seconds: 1, of: child)
        #expect(child.reap() == .killed(signal: SIGXCPU))
        withExtendedLifetime(folder) {}
    }

    @Test func `What a child may use can be raised again`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        try ProcessLimits.limitProcessorTime(seconds: 1, of: child)
        try ProcessLimits.limitProcessorTime(seconds: 1_000, of: child)
        let usage = try ProcessUsage(of: child)
        while let used = usage.processorSeconds, used < 1.2 { sched_yield() }
        #expect(!child.hasEnded)
        child.kill()
        _ = child.reap()
        withExtendedLifetime(folder) {}
    }

    @Test func `What a child takes is seen, until it has ended`() throws {
        let (child, folder) = try spawn("while :; do :; done")
        let usage = try ProcessUsage(of: child)
        while let used = usage.processorSeconds, used < 0.05 { sched_yield() }
        let resident = try #require(usage.residentBytes)
        #expect(resident > 100_000 && resident < 50_000_000)
        child.kill()
        while !child.hasEnded { sched_yield() }
        #expect(usage.residentBytes == nil)
        _ = child.reap()
        #expect(usage.processorSeconds == nil)
        withExtendedLifetime(folder) {}
    }
}
