import Crypto
import Foundation
import RichPush
import SealedMedia
import TestSupport
import Testing

/// Files that are sealed by the server's writer and opened by the phone's reader.
struct SealedFileTests {
    @Test(arguments: [1, 4_000, 65_495, 65_496, 65_497, 131_072, 1_000_000])
    func `Content of any length is opened as it was sealed`(bytes: Int) throws {
        let sample = try SealedSample(bytes: bytes)
        let opened = try sample.opened(sample.sealed(), bytes: bytes)
        #expect(opened.content == sample.content)
        #expect(opened.record == SealedRecord(bytes: bytes, type: "image/jpeg", name: "attachment.jpg"))
    }

    @Test func `An empty file is not sealed`() throws {
        let sample = try SealedSample(bytes: 0)
        #expect(throws: (any Error).self) { try sample.sealed() }
    }

    @Test func `Content over Apple's limits is not sealed`() {
        #expect(SealedLayout(contentEnd: Limits.sealedBytesMax + 1) == nil)
        #expect(SealedLayout(contentEnd: 50_000_600) != nil)
    }

    @Test func `Name and type are not in the file`() throws {
        let sample = try SealedSample(bytes: 5_000)
        let sealed = try sample.sealed(name: "kitten.jpg")
        for text in ["kitten", "jpg", "image", "jpeg"] { #expect(sealed.range(of: Data(text.utf8)) == nil) }
    }

    @Test func `The same content is never sealed to the same bytes`() throws {
        let sample = try SealedSample(bytes: 5_000)
        let first = try sample.sealed(secret: .make(), salt: Data(0..<32))
        let second = try sample.sealed(secret: .make(), salt: Data(0..<32))
        let chunks = zip(first.dropFirst(34), second.dropFirst(34))
        #expect(chunks.count { $0 != $1 } > 8_000)
    }

    @Test func `Lengths are padded in steps of at most an eighth`() throws {
        var lengths: Set<Int> = []
        for bytes in stride(from: 1, through: 3_000_000, by: 997) {
            let padded = try #require(SealedLayout.padded(bytes))
            #expect(padded >= bytes && padded - bytes < max(4_096, bytes / 8 + 1))
            #expect(SealedLayout.padded(padded) == padded)
            lengths.insert(padded)
        }
        #expect(lengths.count < 64)
    }

    @Test func `The length of a sealed file tells its layout, and no other length does`() throws {
        let known = (1...400).compactMap { SealedLayout(contentEnd: $0 * 997) }
        for layout in known {
            #expect(SealedLayout(fileBytes: layout.fileBytes) == layout)
            #expect(SealedLayout(fileBytes: layout.fileBytes - 1) == nil)
            #expect(SealedLayout(fileBytes: layout.fileBytes + 1) == nil)
        }
        for bytes in [Int.min, -1, 0, 34, 50, 51, .max] { #expect(SealedLayout(fileBytes: bytes) == nil) }
    }

    @Test func `A secret is written as URL-safe base64 and never described`() throws {
        let secret = SealedSecret.make()
        #expect(SealedSecret(text: secret.text) == secret)
        #expect(secret.text.utf8.count == 43)
        for text in ["\(secret)", String(reflecting: secret), String(describing: Optional(secret))] {
            #expect(!text.contains(secret.text))
        }
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("bytes"))
        for text in ["", "A", secret.text + "=", secret.text.dropLast() + "+", String(repeating: "é", count: 43)] {
            #expect(SealedSecret(text: text) == nil)
        }
    }
}
