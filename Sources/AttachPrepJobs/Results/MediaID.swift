import AttachPrep

/// Where a result's files are served: 128 random bits, since who knows the address may fetch them.
public struct MediaID: Sendable, Hashable, CustomStringConvertible {
    /// 32 digits of lower-case hexadecimal.
    public let text: String

    /// Nil for what is no such name.
    public init?(_ text: String) {
        let digits = "0123456789abcdef".utf8
        guard text.utf8.count == 32, text.utf8.allSatisfy(digits.contains) else { return nil }
        self.text = text
    }

    public static func make() -> MediaID {
        var generator = SystemRandomNumberGenerator()
        let halves: [UInt64] = [generator.next(), generator.next()]
        return MediaID(known: halves.flatMap(\.bigEndianBytes).hexadecimal)
    }

    private init(known text: String) {
        self.text = text
    }

    public var description: String { text }
}
