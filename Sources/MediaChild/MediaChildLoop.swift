import Glibc
import Linux
import MediaEngine
import MediaProcessing
import RichPush
import SafeArithmetic

/// The child's one loop: a message in, the work, a message out.
struct MediaChildLoop {
    let socket: MessageSocket
    let intercept: MediaChildIntercept?

    /// Says that it is ready, and serves until the parent closes the socket.
    func run(_ processor: MediaProcessor) throws {
        try send(.ready)
        while let message = try socket.receive(bytesMax: Limits.childMessageBytesMax) {
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
            // Bounded: a century.
            let deadline = ContinuousClock.now + .milliseconds(clamping: request.millisecondsLeft)
            try intercept?(request.call, message.descriptors)
            let answer = try processor.perform(request.call, descriptors: message.descriptors, deadline: deadline) {
                // Should it not arrive, the answer itself does not either.
                try? send(MediaAnswerMessage(number: request.number, .progress($0)))
            }
            return MediaAnswerMessage(number: number, .answer(answer))
        } catch let error as AttachPrepError {
            return MediaAnswerMessage(number: number, .failure(error))
        } catch {
            let unknown = AttachPrepError(.internal, "The media could not be worked on.", detail: "\(error)")
            return MediaAnswerMessage(number: number, .failure(unknown))
        }
    }
}
