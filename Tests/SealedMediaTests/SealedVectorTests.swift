import Crypto
import Foundation
import RichPush
import SealedMedia
import TestSupport
import Testing

/// The vectors of `docs/reference/sealed.md`, and a decoder of its own in Python over the package `cryptography`.
struct SealedVectorTests {
    /// A row of the page's table.
    private struct Vector {
        let role: SealedRole
        let bytes: Int
        let fileBytes: Int
        let key: String
        let start: String
        let sha256: String

        init?(_ line: Substring) {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: [" ", "`"]) }
            let roles = ["attachment": SealedRole.attachment, "thumbnail": .thumbnail, "crop": .crop]
            guard cells.count == 6, let role = roles[cells[0]],
                let bytes = Int(cells[1].filter { $0 != "," }), let fileBytes = Int(cells[2].filter { $0 != "," })
            else { return nil }
            (self.role, self.bytes, self.fileBytes) = (role, bytes, fileBytes)
            (key, start, sha256) = (cells[3], cells[4], cells[5])
        }
    }

    private static func vectors() throws -> [Vector] {
        let page = try String(contentsOfFile: SourceTree.path("docs/reference/sealed.md"), encoding: .utf8)
        return page.split(separator: "\n").compactMap(Vector.init)
    }

    private static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The content of a vector: byte `i` is `i` modulo 251.
    private static func content(_ bytes: Int) -> Data { Data((0..<bytes).map { UInt8($0 % 251) }) }

    @Test func `The writer makes the files of the documented vectors`() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count == 3)
        for vector in vectors {
            let sealed = try SealedSample(Self.content(vector.bytes)).sealed(vector.role)
            let key = HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: SealedSample.secret.bytes), salt: SealedSample.salt,
                info: Data("attachprep sealed media".utf8) + [1, vector.role.rawValue], outputByteCount: 32)
            let seen = [
                "\(sealed.count)", key.withUnsafeBytes { Self.hexadecimal($0) },
                Self.hexadecimal(sealed.dropFirst(34).prefix(16)), Self.hexadecimal(SHA256.hash(data: sealed)),
            ]
            #expect(seen == ["\(vector.fileBytes)", vector.key, vector.start, vector.sha256])
        }
    }

    @Test func `An independent decoder in Python opens the files, and refuses changed ones`() async throws {
        for vector in try Self.vectors() {
            let content = Self.content(vector.bytes)
            let sealed = try SealedSample(content).sealed(vector.role)
            let open = { (file: Data) in
                try await SealedFileDecoder.open(file, secret: SealedSample.secret.text, as: "\(vector.role)")
            }
            let opened = try await open(sealed)
            #expect(opened == .init(content: content, type: "image/jpeg", name: "attachment.jpg"))
            var flipped = sealed
            flipped[40] ^= 1
            for changed in [sealed.dropLast(), sealed + [0], flipped] {
                await #expect(throws: SealedFileDecoder.RefusedError.self) { try await open(Data(changed)) }
            }
        }
    }
}
