package import AttachPrepModel
import FoundationEssentials
package import MediaTypes

/// A call to a media process: one message of JSON, with descriptors as ancillary data.
package struct MediaCallMessage: Codable, Sendable, Hashable {
    /// Number of the call in this process, from 1. The answer repeats it, so that a late answer is recognized.
    package let number: Int
    package let call: MediaCall
    /// Time left when the message was sent; a relative time, since the clocks of two processes are not compared.
    package let millisecondsLeft: Int

    package init(number: Int, call: MediaCall, millisecondsLeft: Int) {
        self.number = number
        self.call = call
        self.millisecondsLeft = millisecondsLeft
    }
}

/// A message from a media process: `ready` once, then answers.
package struct MediaAnswerMessage: Codable, Sendable, Hashable {
    package enum Content: Codable, Sendable, Hashable {
        /// All libraries are loaded; no file has been received yet.
        case ready
        /// What a render has written so far, which is used when the deadline passes.
        case progress(RenderedMedia)
        /// What the work of the call is, for its processor time.
        case work(WorkReport)
        case answer(MediaAnswer)
        case failure(AttachPrepError)
    }

    /// The number of the call; 0 before the first one.
    package let number: Int
    package let content: Content

    package init(number: Int, _ content: Content) {
        self.number = number
        self.content = content
    }

    /// The first message of a media process.
    package static let ready = MediaAnswerMessage(number: 0, .ready)
}

/// Encodes and decodes messages; both sides come from the same build.
package enum MediaMessageCoding {
    // Created once: creation costs more than coding a small message, and they hold no state between messages.
    private static let encoder = JSONEncoder()
    private static let decoder = JSONDecoder()

    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        try [UInt8](encoder.encode(message))
    }

    package static func decode<Message: Decodable>(_ type: Message.Type, from bytes: [UInt8]) throws -> Message {
        try ForeignJSON.decode(type, from: bytes, with: decoder)
    }
}

/// Signals about a source that is still downloading, one byte each.
public enum DownloadSignal: UInt8, Sendable, Hashable {
    /// More bytes were received.
    case more = 0x2B
    /// The source is complete.
    case complete = 0x2E
}

/// Command-line arguments of a media process.
package enum MediaProcessArgument {
    /// Exit with `MediaProcessExit.sandboxUnavailable` when a sandbox layer cannot be enabled.
    package static let requireSandbox = "--require-walls"
    /// Enable no sandbox layer. Only for measuring their cost; the pool never passes it.
    package static let withoutSandbox = "--without-walls"
    /// Make one escape attempt and exit.
    package static let attempt = "--attempt"
}

/// Exit codes of a media process.
package enum MediaProcessExit {
    /// A required sandbox layer could not be enabled.
    package static let sandboxUnavailable: Int32 = 77
    /// The escape attempt was blocked.
    package static let attemptBlocked: Int32 = 70
    /// The escape attempt succeeded.
    package static let attemptSucceeded: Int32 = 71
}

extension Limits {
    /// Longest message between a media process and its parent: the 4,096 delays of an animation are about 25 KB of
    /// JSON.
    package static let mediaProcessMessageBytesMax = 131_072
    /// Libraries take 240 MB of address space, the worst image 1,030 MB in total; its source may be mapped as well.
    package static let mediaProcessAddressSpaceBytesMax = 1_600_000_000
    /// Twice Apple's largest attachment: larger renditions are abandoned much earlier.
    package static let mediaProcessFileBytesMax = 100_000_000
    /// Standard streams, the socket, a source and up to 21 outputs, each duplicated by a library.
    package static let mediaProcessOpenFilesMax = 64
}
