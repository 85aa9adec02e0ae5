package import Foundation
package import RichPush

/// Why a sealed file is not opened.
package enum SealedFileError: Error, Sendable, Hashable {
    /// A version or a chunk size of a later format.
    case version
    /// A length that no sealed file has: cut, empty or with data behind its end.
    case length
    /// A chunk is not what was sealed there for this role, or the secret is another one.
    case authentication
    /// The record or the padding contradicts the file or the payload.
    case content
}

#if canImport(CryptoKit) || canImport(Crypto)
    // Bounded throughout: parts of a layout, which has at most `sealedBytesMax`.
    /// Opens sealed files from file to file, a chunk at a time.
    package struct SealedFileReader: Sendable {
        private let secret: SealedSecret
        private let role: SealedRole

        package init(_ secret: SealedSecret, role: SealedRole) {
            self.secret = secret
            self.role = role
        }

        /// Writes the content of a sealed file to `target`.
        ///
        /// Bytes that were written must not be used unless the method returns: a later chunk may be missing or false.
        ///
        /// - Parameters:
        ///   - bytes: The length of the content by the payload; nil when it is not known.
        ///   - proceed: Called before each chunk; an error it throws ends the work.
        /// - Throws: `SealedFileError`, and the errors of files.
        package func open(
            _ source: URL, to target: FileHandle, bytes: Int? = nil, proceed: () throws -> Void = {}
        ) throws -> SealedRecord {
            let file = try FileHandle(forReadingFrom: source)
            defer { try? file.close() }
            let end = try file.seekToEnd()
            try file.seek(toOffset: 0)
            let header = try file.read(upToCount: SealedLayout.headerBytes) ?? Data()
            guard header.count == SealedLayout.headerBytes else { throw SealedFileError.length }
            guard header.first == SealedLayout.version, header.dropFirst().first == SealedLayout.chunkBits else {
                throw SealedFileError.version
            }
            guard let layout = SealedLayout(fileBytes: Int(clamping: end)) else { throw SealedFileError.length }
            let cipher = SealedCipher(secret, role: role, salt: Data(header.dropFirst(2)), layout: layout)
            return try open(file, cipher: cipher, to: target, bytes: bytes, proceed)
        }

        private func open(
            _ file: FileHandle, cipher: SealedCipher, to target: FileHandle, bytes: Int?, _ proceed: () throws -> Void
        ) throws -> SealedRecord {
            let layout = cipher.layout
            var output: Output?
            for index in 0..<layout.chunksCount {
                try proceed()
                try Self.releasing {
                    let sealed = try Self.chunk(of: file, bytes: layout.bytes(ofChunk: index) + SealedLayout.tagBytes)
                    let plaintext = try cipher.open(sealed, chunk: index)
                    if output == nil {
                        guard let (record, content) = SealedRecord.read(plaintext),
                            let size = record.encoded?.count, bytes ?? record.bytes == record.bytes,
                            record.bytes <= layout.length - size,
                            SealedLayout(contentEnd: size + record.bytes) == layout
                        else { throw SealedFileError.content }
                        output = Output(record: record, left: record.bytes)
                        try output?.write(content, to: target)
                    } else {
                        try output?.write(plaintext, to: target)
                    }
                }
            }
            guard let output, output.left == 0 else { throw SealedFileError.content }
            return output.record
        }

        /// The content that is written, until its end; then there is only padding.
        private struct Output {
            let record: SealedRecord
            var left: Int

            mutating func write(_ plaintext: Data, to target: FileHandle) throws {
                let content = plaintext.prefix(left)
                left -= content.count
                if !content.isEmpty { try target.write(contentsOf: content) }
                guard plaintext.dropFirst(content.count).allSatisfy({ $0 == 0 }) else {
                    throw SealedFileError.content
                }
            }
        }

        private static func chunk(of file: FileHandle, bytes: Int) throws -> Data {
            var chunk = Data()
            while chunk.count < bytes {
                guard let piece = try file.read(upToCount: bytes - chunk.count), !piece.isEmpty else {
                    throw SealedFileError.length
                }
                chunk.append(piece)
            }
            return chunk
        }

        /// Frees each chunk immediately; otherwise chunks stay in memory until the thread's autorelease pool is
        /// drained.
        private static func releasing(_ body: () throws -> Void) rethrows {
            #if canImport(ObjectiveC)
                try autoreleasepool(invoking: body)
            #else
                try body()
            #endif
        }
    }
#endif
