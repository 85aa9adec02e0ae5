package import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A call on its way to a media child: JSON in one message, with the descriptors beside it.
package struct MediaCallMessage: Codable, Sendable, Hashable {
    /// Of this child's calls, from 1: the answer carries it, so that a late one is not taken for another's.
    package let number: Int
    package let call: MediaCall
    /// Time left when the message was sent; clocks of two processes are not compared.
    package let millisecondsLeft: Int

    package init(number: Int, call: MediaCall, millisecondsLeft: Int) {
        self.number = number
        self.call = call
        self.millisecondsLeft = millisecondsLeft
    }
}

/// What a child says: once that it is ready, then answers.
package struct MediaAnswerMessage: Codable, Sendable, Hashable {
    package enum Content: Codable, Sendable, Hashable {
        /// Everything is loaded; no file was seen yet.
        case ready
        /// What a render has written so far: it stands when the rest takes too long.
        case progress(RenderedMedia)
        case answer(MediaAnswer)
        case failure(AttachPrepError)
    }

    /// The call's; 0 where there was none yet.
    package let number: Int
    package let content: Content

    package init(number: Int, _ content: Content) {
        self.number = number
        self.content = content
    }

    /// A child's first word.
    package static let ready = MediaAnswerMessage(number: 0, .ready)
}

/// How both are written: the same on both sides, since they are built together.
package enum MediaMessageCoding {
    /// Made once: they cost more than a small message, and hold no state between messages.
    private static let encoder = JSONEncoder()
    private static let decoder = JSONDecoder()

    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        try [UInt8](encoder.encode(message))
    }

    package static func decode<Message: Decodable>(_ type: Message.Type, from bytes: [UInt8]) throws -> Message {
        try decoder.decode(type, from: Data(bytes))
    }
}
