internal import AttachPrepModel

/// The schema that holds the tables of a queue; several queues can share a database.
public struct PostgresSchema: Sendable, Hashable {
    public let name: String

    /// Bytes of a name: PostgreSQL's 63 for an identifier, less the prefix of the channel.
    public static let nameBytesMax = 48

    /// - Parameter name: 1 to 48 ASCII letters, digits and underscores, beginning with a letter.
    /// - Throws: `AttachPrepError`, code `request.invalid`.
    public init(_ name: String) throws {
        func isLetter(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte | 0x20 }
        let isValid =
            (1...Self.nameBytesMax).contains(name.utf8.count) && name.utf8.first.map(isLetter) == true
            && name.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 || $0 == UInt8(ascii: "_") }
        guard isValid else {
            throw AttachPrepError(
                .requestInvalid,
                "The schema's name must be 1 to \(Self.nameBytesMax) letters (a to z), digits or underscores and begin "
                    + "with a letter.")
        }
        self.name = name
    }

    /// For SQL text. The name needs no escaping.
    var quoted: String { "\"\(name)\"" }

    /// The channel of its notifications.
    var channel: String { "attachprep_\(name)" }

    /// The key of the lock that exclusive transactions take: FNV-1a, which must never change.
    var lockKey: Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in channel.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }
}
