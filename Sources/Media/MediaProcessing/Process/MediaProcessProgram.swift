import AttachPrepModel
import Glibc
import Linux
package import MediaEngine
import MediaTypes
import SafeArithmetic

/// Called with each call and its descriptors before the work; an error it throws becomes the answer.
package typealias MediaProcessIntercept = (MediaCall, [CInt]) throws -> Void

/// The program `attachprep-media`: loads libraries, enables the sandbox, then serves calls.
package struct MediaProcessProgram {
    /// The command-line arguments; see `MediaProcessArgument`.
    let arguments: [String]
    /// Called before each call; the test build uses it to make escape attempts.
    let intercept: MediaProcessIntercept?

    package init(arguments: [String], intercept: MediaProcessIntercept? = nil) {
        self.arguments = arguments
        self.intercept = intercept
    }

    /// Serves calls until the parent closes the socket, or makes one escape attempt.
    ///
    /// - Returns: The exit code.
    package func run() throws -> CInt {
        try ProcessFlags.dieWithParent()
        if arguments.first == MediaProcessArgument.attempt {
            return SandboxProbe(arguments.dropFirst().first.flatMap(EscapeKind.init)).run()
        }
        // Everything that needs files is loaded here: inside the sandbox, files cannot be opened.
        let processor = try MediaProcessor()
        if !arguments.contains(MediaProcessArgument.withoutSandbox) {
            let missing = MediaProcessSandbox.enable()
            if !missing.isEmpty, arguments.contains(MediaProcessArgument.requireSandbox) {
                return MediaProcessExit.sandboxUnavailable
            }
        }
        let socket = MessageSocket(adopting: ChildProcess.socketDescriptor)
        try MediaProcessLoop(socket: socket, intercept: intercept).run(processor)
        return 0
    }
}

/// The loop of a media process: receives a call, performs it, sends the answer.
struct MediaProcessLoop {
    let socket: MessageSocket
    let intercept: MediaProcessIntercept?

    /// Sends `ready`, then serves calls until the parent closes the socket.
    func run(_ processor: MediaProcessor) throws {
        try send(.ready)
        while let message = try socket.receive(bytesMax: Limits.mediaProcessMessageBytesMax) {
            defer { for descriptor in message.descriptors { close(descriptor) } }
            try send(answer(message, processor: processor))
        }
    }

    private func send(_ message: MediaAnswerMessage) throws {
        try socket.send(MediaMessageCoding.encode(message))
    }

    private func answer(_ message: MessageSocket.Message, processor: MediaProcessor) -> MediaAnswerMessage {
        var number = 0
        do {
            let request = try MediaMessageCoding.decode(MediaCallMessage.self, from: message.bytes)
            number = request.number
            let deadline = ContinuousClock.now + .milliseconds(clamping: request.millisecondsLeft)
            let socket = socket
            WorkReporter.begin { report in
                // If a report cannot be sent, sending the answer fails as well and ends the loop.
                let message = MediaAnswerMessage(number: request.number, .work(report))
                try? socket.send(MediaMessageCoding.encode(message))
            }
            try intercept?(request.call, message.descriptors)
            let answer = try processor.perform(request.call, descriptors: message.descriptors, deadline: deadline) {
                // If progress cannot be sent, sending the answer fails as well and ends the loop.
                try? send(MediaAnswerMessage(number: request.number, .progress($0)))
            }
            return MediaAnswerMessage(number: number, .answer(answer))
        } catch let error as AttachPrepError {
            return MediaAnswerMessage(number: number, .failure(error))
        } catch {
            let unknown = AttachPrepError(.internal, "The media could not be processed.", detail: "\(error)")
            return MediaAnswerMessage(number: number, .failure(unknown))
        }
    }
}
