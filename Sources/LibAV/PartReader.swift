import CLibAV
import FileIO
import SafeArithmetic

/// A part of a file, read as a piece of a longer one.
package struct FilePart: Sendable, Hashable {
    /// AES-128 in CBC mode with PKCS #7 padding; both have 16 bytes.
    package struct Cipher: Sendable, Hashable {
        package let key: [UInt8]
        package let vector: [UInt8]

        package init(key: [UInt8], vector: [UInt8]) {
            self.key = key
            self.vector = vector
        }
    }

    package let offset: Int
    package let bytes: Int
    /// Nil for a part that is not encrypted.
    package let cipher: Cipher?

    package init(offset: Int, bytes: Int, cipher: Cipher? = nil) {
        self.offset = offset
        self.bytes = bytes
        self.cipher = cipher
    }
}

/// Reads parts of one file as if they followed each other, and decrypts those that are encrypted.
final class PartReader {
    private struct JoinedPart {
        let part: FilePart
        /// Its first byte in the joined file.
        let start: Int
        /// Without padding.
        let bytes: Int
        let decryption: BlockDecryption?

        // Bounded: the lengths of parts of one file, whose sum `init` checks.
        var end: Int { start + bytes }
    }

    let descriptor: CInt
    private let joinedParts: [JoinedPart]
    let size: Int

    /// - Throws: `AVERROR_INVALIDDATA` when an encrypted part does not end with valid padding: its key is wrong.
    init(_ descriptor: CInt, _ parts: [FilePart]) throws(LibAVError) {
        self.descriptor = descriptor
        var joinedParts: [JoinedPart] = []
        var start = 0
        for part in parts where part.bytes > 0 {
            let decryption = try part.cipher.map { (cipher) throws(LibAVError) in try BlockDecryption(cipher) }
            let bytes = try decryption.map { (decryption) throws(LibAVError) in
                try Self.plainBytes(part, decryption, descriptor)
            }
            let joined = JoinedPart(part: part, start: start, bytes: bytes ?? part.bytes, decryption: decryption)
            guard let end = start.adding(exactly: joined.bytes) else { throw Self.invalid }
            start = end
            joinedParts.append(joined)
        }
        self.joinedParts = joinedParts
        size = start
    }

    private static let invalid = LibAVError(code: CLibAV_errorInvalidData, operation: "av_aes_crypt")

    /// The length without padding, which the last block determines.
    private static func plainBytes(
        _ part: FilePart, _ decryption: BlockDecryption, _ descriptor: CInt
    ) throws(LibAVError) -> Int {
        // Bounded: by a constant.
        guard part.bytes % BlockDecryption.blockBytes == 0 else { throw invalid }
        // Bounded: a part has one block at least.
        let last = try decrypt(part, decryption, descriptor, from: part.bytes - BlockDecryption.blockBytes, count: 1)
        guard let padding = last.last.map(Int.init), (1...last.count).contains(padding),
            last.suffix(padding).allSatisfy({ $0 == padding })
        else { throw invalid }
        // Bounded: likewise.
        return part.bytes - padding
    }

    /// - Parameter offset: Of the first block, in the part.
    private static func decrypt(
        _ part: FilePart, _ decryption: BlockDecryption, _ descriptor: CInt, from offset: Int, count: Int
    ) throws(LibAVError) -> [UInt8] {
        let block = BlockDecryption.blockBytes
        let start = part.offset.adding(clamping: offset)
        do {
            let vector =
                offset == 0
                ? decryption.vector
                : try FileIO.bytes(descriptor, at: start.subtracting(clamping: block), count: block)
            let encrypted = try FileIO.bytes(descriptor, at: start, count: count.multiplied(clamping: block))
            return decryption.decrypt(encrypted, vector: vector)
        } catch {
            throw LibAVError(code: CLibAV_errorInputOutput, operation: "pread")
        }
    }

    /// Reads up to the buffer's size from one part.
    ///
    /// - Returns: The number of bytes; 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int) throws(LibAVError) -> Int {
        guard let joined = joined(at: position) else { return 0 }
        // Bounded throughout: the position is in the part.
        let offset = position - joined.start
        let count = min(buffer.count, joined.bytes - offset)
        guard let decryption = joined.decryption else {
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            do { return try unsafe FileIO.read(descriptor, into: target, at: joined.part.offset + offset) } catch {
                throw LibAVError(code: CLibAV_errorInputOutput, operation: "pread")
            }
        }
        let block = BlockDecryption.blockBytes
        let skipped = offset % block
        let plain = try Self.decrypt(
            joined.part, decryption, descriptor, from: offset - skipped, count: (skipped + count + block - 1) / block)
        let wanted = plain.dropFirst(skipped).prefix(count)
        unsafe buffer.copyBytes(from: wanted)
        return wanted.count
    }

    /// The first bytes; fewer when the first part is shorter.
    func firstBytes(_ count: Int) throws(LibAVError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(LibAVError) in try unsafe read(into: buffer, at: 0) }
        }
        return Array(bytes.prefix(try result.get()))
    }

    private func joined(at position: Int) -> JoinedPart? {
        var (low, high) = (0, joinedParts.count)
        // Bounded throughout: indices of a list in memory.
        while low < high {
            let middle = (low + high) / 2
            if joinedParts[middle].end <= position { low = middle + 1 } else { high = middle }
        }
        return low < joinedParts.count && position >= 0 ? joinedParts[low] : nil
    }
}

/// AES-128 in CBC mode.
@safe final class BlockDecryption {
    static let blockBytes = 16

    private let context: OpaquePointer
    let vector: [UInt8]

    init(_ cipher: FilePart.Cipher) throws(LibAVError) {
        guard cipher.key.count == Self.blockBytes, cipher.vector.count == Self.blockBytes else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "av_aes_init")
        }
        guard let allocated = unsafe av_aes_alloc() else {
            throw LibAVError(code: CLibAV_errorNoMemory, operation: "av_aes_alloc")
        }
        unsafe context = unsafe allocated
        vector = cipher.vector
        _ = unsafe av_aes_init(context, cipher.key, 128, 1)
    }

    deinit { unsafe av_free(UnsafeMutableRawPointer(context)) }

    /// Decrypts whole blocks; bytes after the last whole block are dropped.
    func decrypt(_ encrypted: [UInt8], vector: [UInt8]) -> [UInt8] {
        let blocks = encrypted.count / Self.blockBytes
        var chained = vector
        var plain = encrypted
        guard blocks > 0, vector.count == Self.blockBytes else { return [] }
        unsafe plain.withUnsafeMutableBufferPointer { target in
            unsafe chained.withUnsafeMutableBufferPointer { chained in
                unsafe av_aes_crypt(
                    context, target.baseAddress, encrypted, CInt(clamping: blocks), chained.baseAddress, 1)
            }
        }
        return Array(plain.prefix(blocks * Self.blockBytes))
    }
}
