import Glibc
import Linux
import MediaEngine
import MediaProcessing
import RichPush

/// The child's one loop: a message in, the work, a message out.
struct MediaChildLoop {
    let socket: MessageSocket

    /// Serves until the parent closes the socket.
    func run(_ processor: MediaProcessor) throws {
        while let message = try socket.receive(bytesMax: Limits.childMessageBytesMax) {
            defer { for descriptor in message.descriptors { close(descriptor) } }
            try socket.send(MediaMessageCoding.encode(answer(message, processor: processor)))
        }
    }

    private func answer(_ message: MessageSocket.Message, processor: MediaProcessor) -> MediaAnswerMessage {
        do {
            let request = try MediaMessageCoding.decode(MediaCallMessage.self, from: message.bytes)
            let deadline = ContinuousClock.now + .milliseconds(request.millisecondsLeft)
            return .answer(
                try processor.perform(request.call, descriptors: message.descriptors, deadline: deadline) { [socket] in
                    // Should it not arrive, the answer itself does not either.
                    if let bytes = try? MediaMessageCoding.encode(MediaAnswerMessage.progress($0)) {
                        try? socket.send(bytes)
                    }
                })
        } catch let error as AttachPrepError {
            return .failure(error)
        } catch {
            return .failure(AttachPrepError(.internal, "The media could not be worked on.", detail: "\(error)"))
        }
    }
}
