import Crypto
import RichPush

/// A user's seed as NATS writes it, of which the servers know the public key: base32 of a prefix, 32 bytes of Ed25519
/// and a checksum.
///
/// https://docs.nats.io/running-a-nats-service/configuration/securing_nats/auth_intro/nkey_auth
package struct NKeySeed: Sendable {
    /// `U…`, 56 characters.
    package let publicKey: String

    /// - Parameter text: a file that has a line `SU…`; whatever stands around it is left out.
    /// - Throws: `request.invalid` for a text without a user's seed.
    package init(_ text: String) throws {
        let lines = text.split(whereSeparator: \.isWhitespace)
        guard let line = lines.first(where: { $0.hasPrefix("SU") }), let bytes = Self.bytes(line),
            // Bounded: shifts and masks of bytes, whose counts are below 64.
            bytes.count == 36, Self.checksum(bytes.dropLast(2)) == UInt16(bytes[34]) | UInt16(bytes[35]) << 8,
            // Bounded: shifts and masks of bytes, whose counts are below 64.
            bytes[0] & 0xF8 == Self.seedPrefix, (bytes[0] & 7) << 5 | bytes[1] >> 3 == Self.userPrefix,
            let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes[2..<34])
        else {
            throw AttachPrepError(.requestInvalid, "This is no seed of a NATS user; one begins with SU.")
        }
        let body = [Self.userPrefix] + key.publicKey.rawRepresentation  // Bounded: lists, not numbers.
        let sum = Self.checksum(body[...])
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        publicKey = Self.text(body + [UInt8(sum & 0xFF), UInt8(sum >> 8)])
    }

    /// `S` and `U` in the first five bits of a byte.
    private static let (seedPrefix, userPrefix): (UInt8, UInt8) = (18 << 3, 20 << 3)

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// RFC 4648, 6, without padding.
    private static func bytes(_ text: Substring) -> [UInt8]? {
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        for character in text.utf8 {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            bits = bits << 5 | UInt32(value)  // Bounded: shifts and masks of bytes, whose counts are below 64.
            count += 5  // Bounded: shifts and masks of bytes, whose counts are below 64.
            if count >= 8 {
                count -= 8  // Bounded: shifts and masks of bytes, whose counts are below 64.
                // Bounded: shifts and masks of bytes, whose counts are below 64.
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }

    private static func text(_ bytes: [UInt8]) -> String {
        var (text, bits, count) = ([UInt8](), UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)  // Bounded: shifts and masks of bytes, whose counts are below 64.
            count += 8  // Bounded: shifts and masks of bytes, whose counts are below 64.
            while count >= 5 {
                count -= 5  // Bounded: shifts and masks of bytes, whose counts are below 64.
                // Bounded: shifts and masks of bytes, whose counts are below 64.
                text.append(alphabet[Int(bits >> UInt32(count) & 31)])
            }
        }
        // Bounded: shifts and masks of bytes, whose counts are below 64.
        if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// CRC-16/XMODEM.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt16 {
        bytes.reduce(0) { sum, byte in
            // Bounded: shifts and masks of bytes, whose counts are below 64.
            (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in
                // Bounded: shifts and masks of bytes, whose counts are below 64.
                sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021
            }
        }
    }
}
