package import Foundation
package import RichPush
import SafeArithmetic

/// What a sealed file is for. It is authenticated, so that a file cannot take the place of another.
package enum SealedRole: UInt8, Sendable, Hashable, CaseIterable {
    case attachment = 1
    case thumbnail = 2
    case crop = 3
}

// Bounded throughout: a layout exists only for a length of at most `sealedBytesMax`, and chunks are below its count.
/// Where the parts of a sealed file are, and how long they are. `docs/reference/sealed.md` describes each byte.
package struct SealedLayout: Sendable, Hashable {
    /// The version of the format, its first byte.
    package static let version: UInt8 = 1
    /// The second byte: the base-2 logarithm of `chunkBytes`.
    package static let chunkBits: UInt8 = 16
    /// Plaintext in a chunk, in bytes; the last chunk may have less.
    package static let chunkBytes = 65_536
    /// AES-GCM's tag, behind each chunk.
    package static let tagBytes = 16
    package static let saltBytes = 32
    /// Version, chunk size and salt.
    package static let headerBytes = 2 + saltBytes

    /// Bytes of plaintext in all chunks: the record, the content, and padding. A multiple of `stepBytesMin`.
    package let length: Int

    /// The layout for content behind its record.
    ///
    /// - Parameter contentEnd: Bytes of the record and the content, from 1 to `sealedBytesMax`.
    package init?(contentEnd: Int) {
        guard let length = Self.padded(contentEnd) else { return nil }
        self.length = length
    }

    /// The layout of a file; nil for a length that no sealed file has.
    package init?(fileBytes: Int) {
        // A chunk with one byte of plaintext is the shortest.
        let body = fileBytes.subtracting(clamping: Self.headerBytes)
        guard body > Self.tagBytes, body <= Limits.sealedBytesMax * 2 else { return nil }
        let sealedChunk = Self.chunkBytes + Self.tagBytes
        let chunks = (body + sealedChunk - 1) / sealedChunk
        let length = body - chunks * Self.tagBytes
        guard length > (chunks - 1) * Self.chunkBytes, Self.padded(length) == length else { return nil }
        self.length = length
    }

    /// The length of the whole file in bytes.
    package var fileBytes: Int { Self.headerBytes + length + chunksCount * Self.tagBytes }

    package var chunksCount: Int { (length + Self.chunkBytes - 1) / Self.chunkBytes }

    /// Bytes of plaintext in a chunk.
    package func bytes(ofChunk index: Int) -> Int {
        isLast(index) ? length - index * Self.chunkBytes : Self.chunkBytes
    }

    package func isLast(_ index: Int) -> Bool { index == chunksCount - 1 }

    /// The next length that sealed files may have: one of eight in each doubling, so that at most an eighth is padding.
    ///
    /// Nil for 0 and for more than `sealedBytesMax`.
    package static func padded(_ bytes: Int) -> Int? {
        guard bytes > 0, bytes <= Limits.sealedBytesMax else { return nil }
        let power = Int.bitWidth - 1 - bytes.leadingZeroBitCount
        let step = max(Limits.sealedStepBytesMin, 1 << max(0, power - 3))
        return (bytes + step - 1) / step * step
    }

    /// The nonce of a chunk: seven zero bytes, the number of the chunk, and 1 for the last one.
    func nonce(ofChunk index: Int) -> Data {
        Data(count: 7) + UInt32(clamping: index).bigEndianBytes + [isLast(index) ? 1 : 0]
    }

    /// What is authenticated beside the plaintext of each chunk.
    func authenticated(_ role: SealedRole) -> Data {
        Data([Self.version, role.rawValue]) + UInt32(Self.chunkBytes).bigEndianBytes
            + UInt64(clamping: length).bigEndianBytes
    }

    /// The info of HKDF for a file's key.
    static func info(_ role: SealedRole) -> Data {
        Data("attachprep sealed media".utf8) + [version, role.rawValue]
    }
}

// Bounded throughout: bytes, counts of one byte, and buffers of the sizes before them.
/// What the plaintext of a sealed file begins with: the length of the content, its type and its name.
package struct SealedRecord: Sendable, Hashable {
    /// Bytes of the content, at least 1.
    package let bytes: Int
    /// The MIME type, ASCII.
    package let type: String
    package let name: String

    package init(bytes: Int, type: String, name: String) {
        (self.bytes, self.type, self.name) = (bytes, type, name)
    }

    /// The record as bytes; nil for a type or a name of more than 255.
    package var encoded: Data? {
        guard let typeCount = UInt8(exactly: type.utf8.count), let nameCount = UInt8(exactly: name.utf8.count) else {
            return nil
        }
        return UInt64(clamping: bytes).bigEndianBytes + [typeCount] + Data(type.utf8) + [nameCount] + Data(name.utf8)
    }

    /// Reads the record at the beginning of the plaintext.
    ///
    /// - Returns: The record and the bytes behind it; nil when it is cut, empty or not UTF-8.
    static func read(_ plaintext: Data) -> (record: SealedRecord, content: Data)? {
        var rest = plaintext
        guard rest.count >= 8 else { return nil }
        let bytes = rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        guard let type = text(&rest), let name = text(&rest), bytes > 0, let bytes = Int(exactly: bytes) else {
            return nil
        }
        return (SealedRecord(bytes: bytes, type: type, name: name), rest)
    }

    private static func text(_ rest: inout Data) -> String? {
        guard let count = rest.first.map(Int.init), rest.count > count else { return nil }
        defer { rest = rest.dropFirst(1 + count) }
        return String(data: Data(rest.dropFirst().prefix(count)), encoding: .utf8)
    }
}

// Bounded throughout: bits of an integer.
extension FixedWidthInteger {
    /// The most significant byte first.
    fileprivate var bigEndianBytes: Data {
        Data((0..<(Self.bitWidth / 8)).map { UInt8(truncatingIfNeeded: self >> (Self.bitWidth - 8 - 8 * $0)) })
    }
}

extension Limits {
    /// The most plaintext of a sealed file: 50 MB, Apple's limit of a movie, and room for the record and padding.
    package static let sealedBytesMax = 67_108_864
    /// The smallest step between lengths of sealed files: a page of most storage.
    static let sealedStepBytesMin = 4_096
}
