import Foundation
import RichPush
import SealedMedia
import TestSupport
import Testing

/// Sealed files that were changed on the way, or made by someone else.
struct SealedAttackTests {
    private static let chunk = 65_552

    private let sample: SealedSample
    private let sealed: Data
    private let chunks: [Data]

    init() throws {
        sample = try SealedSample(bytes: 190_000)
        sealed = try sample.sealed()
        chunks = stride(from: 34, to: sealed.count, by: Self.chunk).map { [sealed] start in
            Data(sealed[start..<min(start + Self.chunk, sealed.count)])
        }
    }

    private func file(_ chunks: [Data]) -> Data { Data(sealed.prefix(34)) + chunks.joined() }

    @Test func `The untouched chunks are opened`() throws {
        #expect(chunks.count == 3)
        #expect(try sample.opened(file(chunks)).content == sample.content)
    }

    @Test func `A flipped bit anywhere fails`() throws {
        let places = Array(0..<34) + Array(stride(from: 34, to: sealed.count, by: 4_093)) + [sealed.count - 1]
        for place in places {
            var changed = sealed
            changed[place] ^= 1
            #expect(throws: SealedFileError.self, "byte \(place)") { try sample.opened(changed) }
        }
    }

    @Test(arguments: [[1, 0, 2], [0, 0, 2], [0, 2, 1], [1, 1, 2], [0, 1, 1]])
    func `Swapped, repeated and reordered chunks fail`(order: [Int]) {
        #expect(throws: SealedFileError.self) { try sample.opened(file(order.map { chunks[$0] })) }
    }

    @Test(arguments: [[0], [0, 1], [0, 2], [1, 2], [2], []])
    func `Missing chunks fail`(kept: [Int]) {
        #expect(throws: SealedFileError.self) { try sample.opened(file(kept.map { chunks[$0] })) }
    }

    @Test func `A file that is cut anywhere fails`() {
        for count in [0, 1, 33, 34, 35, 50, 51, 34 + Self.chunk, sealed.count - 4_096, sealed.count - 1] {
            #expect(throws: SealedFileError.self, "\(count) bytes") { try sample.opened(sealed.prefix(count)) }
        }
    }

    @Test(arguments: [1, 16, 17, 4_096, 65_552])
    func `Data behind the last chunk fails`(bytes: Int) {
        #expect(throws: SealedFileError.self) { try sample.opened(sealed + Data(count: bytes)) }
        #expect(throws: SealedFileError.self) { try sample.opened(sealed + sealed.suffix(bytes)) }
    }

    @Test func `A file of another role, secret or result fails`() throws {
        #expect(throws: SealedFileError.authentication) { try sample.opened(sealed, .thumbnail) }
        #expect(throws: SealedFileError.authentication) { try sample.opened(sealed, secret: .make()) }
        let other = try sample.sealed(salt: Data(1...32))
        #expect(throws: SealedFileError.authentication) {
            try sample.opened(Data(sealed.prefix(34)) + other.dropFirst(34))
        }
        let thumbnail = try sample.sealed(.thumbnail)
        #expect(throws: SealedFileError.authentication) { try sample.opened(thumbnail) }
    }

    @Test func `A later version or another chunk size is refused as such`() {
        for place in [0, 1] {
            var changed = sealed
            changed[place] += 1
            #expect(throws: SealedFileError.version) { try sample.opened(changed) }
        }
    }

    @Test func `A last chunk without its flag, and a flag before the last chunk, fail`() throws {
        let (first, second) = (
            SealedSample.plaintext(Data(count: 66_000), length: 73_728).prefix(65_536), Data(count: 8_192)
        )
        let flags: [(Bool, Bool)] = [(false, false), (true, true), (true, false)]
        for (one, two) in flags {
            let crafted = try SealedSample.crafted([(first, 0, one), (second, 1, two)])
            #expect(throws: SealedFileError.authentication) { try sample.opened(crafted) }
        }
        let intact = try SealedSample.crafted([(first, 0, false), (second, 1, true)])
        #expect(try sample.opened(intact).content == Data(count: 66_000))
    }

    @Test func `A counter that is not the chunk's place fails`() throws {
        let plaintext = SealedSample.plaintext(Data(count: 100), length: 4_096)
        #expect(throws: SealedFileError.authentication) {
            try sample.opened(SealedSample.crafted([(plaintext, 1, true)]))
        }
    }

    @Test func `A length, role or chunk size that was not authenticated fails`() throws {
        let plaintext = SealedSample.plaintext(Data(count: 100), length: 4_096)
        #expect(try sample.opened(SealedSample.crafted([(plaintext, 0, true)])).content == Data(count: 100))
        #expect(throws: SealedFileError.authentication) {
            try sample.opened(SealedSample.crafted([(plaintext, 0, true)], length: 8_192))
        }
    }

    @Test func `A record that contradicts the file or the payload fails`() throws {
        let cases = [
            // Empty content, more than there is, less padding than its length has, padding that is not zero.
            SealedSample.plaintext(Data(), length: 4_096),
            SealedSample.plaintext(Data(count: 100), declaring: 5_000, length: 4_096),
            SealedSample.plaintext(Data(count: 100), declaring: .max, length: 4_096),
            SealedSample.plaintext(Data(count: 100), length: 8_192),
            SealedSample.plaintext(Data(repeating: 1, count: 101), declaring: 100, length: 4_096),
            // A record that ends behind the plaintext.
            Data(count: 7) + Data(repeating: 255, count: 4_089),
        ]
        for (index, plaintext) in cases.enumerated() {
            let crafted = try SealedSample.crafted([(plaintext, 0, true)])
            #expect(throws: SealedFileError.content, "case \(index)") { try sample.opened(crafted) }
        }
        #expect(throws: SealedFileError.content) { try sample.opened(sealed, bytes: 189_999) }
    }

    @Test func `A file of no step's length fails, though each chunk is authentic`() throws {
        let plaintext = SealedSample.plaintext(Data(count: 100), length: 4_000)
        #expect(throws: SealedFileError.length) {
            try sample.opened(SealedSample.crafted([(plaintext, 0, true)]))
        }
    }
}
