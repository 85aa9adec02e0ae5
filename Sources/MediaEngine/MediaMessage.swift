package import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A call on its way to a media child: JSON in one message, with the descriptors beside it.
package struct MediaCallMessage: Codable, Sendable, Hashable {
    package let call: MediaCall
    /// Time left when the message was sent; clocks of two processes are not compared.
    package let millisecondsLeft: Int

    package init(call: MediaCall, millisecondsLeft: Int) {
        self.call = call
        self.millisecondsLeft = millisecondsLeft
    }
}

/// The answer on its way back.
package enum MediaAnswerMessage: Codable, Sendable, Hashable {
    /// What a render has written so far: it stands when the rest takes too long.
    case progress(RenderedMedia)
    case answer(MediaAnswer)
    case failure(AttachPrepError)
}

/// How both are written: the same on both sides, since they are built together.
package enum MediaMessageCoding {
    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        try [UInt8](JSONEncoder().encode(message))
    }

    /// - Throws: for what is no such message, and for an answer whose numbers are out of bounds.
    package static func decode<Message: Decodable>(_ type: Message.Type, from bytes: [UInt8]) throws -> Message {
        let message = try JSONDecoder().decode(type, from: Data(bytes))
        if let answer = message as? MediaAnswerMessage { try AnswerBounds.check(answer) }
        return message
    }
}
