import Foundation
import Glibc
import TestSupport
import Testing

@testable import MediaLibraries

/// The baseline decoder gives the same planes as libjpeg-turbo, or none.
struct BaselineDecoderTests {
    private static let kinds: [[String]] = [
        ["-quality", "90"], ["-quality", "30"], ["-quality", "90", "-sample", "1x1"],
        ["-quality", "85", "-sample", "2x1"], ["-quality", "85", "-sample", "1x2"],
        ["-quality", "95", "-sample", "4x1"], ["-grayscale"], ["-quality", "80", "-optimize"],
        ["-quality", "80", "-restart", "1"], ["-quality", "80", "-restart", "3B"], ["-quality", "100"],
    ]

    @Test(arguments: kinds) func `Luma at one eighth equals libjpeg's, bit by bit`(options: [String]) throws {
        let file = try JPEGFile(options)
        let planes = try #require(file.planes(eighths: 1))
        let reference = try file.reference(eighths: 1)
        #expect(planes.count == reference.count)
        #expect(planes[0] == reference[0])
    }

    @Test(arguments: kinds) func `An image at one quarter looks like libjpeg's`(options: [String]) throws {
        let file = try JPEGFile(options)
        let planes = try #require(file.planes(eighths: 2))
        let reference = try file.reference(eighths: 2)
        #expect(planes[0].width == reference[0].width && planes[0].height == reference[0].height)
        // libjpeg uses a few more coefficients.
        #expect(meanDifference(planes[0], reference[0]) < 3)
    }

    @Test func `Chroma keeps its stored size`() throws {
        let planes = try #require(JPEGFile(["-sample", "2x2"]).planes(eighths: 1))
        #expect(planes.map(\.width) == [100, 50, 50])
        #expect(planes.map(\.height) == [75, 38, 38])
    }

    @Test func `Chroma without subsampling equals libjpeg's`() throws {
        let file = try JPEGFile(["-quality", "90", "-sample", "1x1"])
        #expect(try #require(file.planes(eighths: 1)) == file.reference(eighths: 1))
    }

    @Test(arguments: [["-progressive"], ["-arithmetic"], ["-rgb"]].prefix(2))
    func `Progressive and arithmetic-coded files are left to libjpeg`(options: [String]) throws {
        #expect(try JPEGFile(options).planes(eighths: 1) == nil)
    }

    @Test(arguments: [0.1, 0.5, 0.9, 0.999]) func `A truncated file is left to libjpeg`(share: Double) throws {
        let complete = try JPEGFile(["-quality", "90"]).bytes
        let truncated = try JPEGFile(bytes: Array(complete.prefix(Int(Double(complete.count) * share))))
        #expect(truncated.planes(eighths: 1) == nil)
        #expect(throws: JPEGDamageError.self) { try truncated.reference(eighths: 1) }
    }

    @Test func `An RGB JPEG has no planes`() throws {
        let file = try JPEGFile(["-rgb"])
        #expect(throws: JPEGError.self) { try file.reference(eighths: 8) }
    }

    @Test func `A restart marker out of order is left to libjpeg`() throws {
        var bytes = try JPEGFile(["-restart", "2"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD3 })
        bytes[marker + 1] = 0xD5
        #expect(try JPEGFile(bytes: bytes).planes(eighths: 1) == nil)
    }

    @Test func `Decoding ends whichever byte of a file is changed`() throws {
        let complete = try JPEGFile(["-quality", "75", "-restart", "4B"], crop: "120x90").bytes
        var generator = SystemRandomNumberGenerator()
        for offset in stride(from: 2, to: complete.count, by: 3) {
            var changed = complete
            changed[offset] = UInt8.random(in: 0...255, using: &generator)
            let file = try JPEGFile(bytes: changed)
            // The content need not be right, but the size is.
            for eighths in BaselineDecoder.reductions {
                for plane in file.planes(eighths: eighths) ?? [] {
                    #expect(plane.samples.count == plane.width * plane.height)
                }
            }
        }
    }

    private func meanDifference(_ a: JPEGPlane, _ b: JPEGPlane) -> Double {
        let sum = zip(a.samples, b.samples).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        return Double(sum) / Double(a.samples.count)
    }
}

/// Files that are decoded while they are still being written.
struct DownloadingJPEGTests {
    @Test(arguments: [700, 5_000, 100_000]) func `A file that is downloaded in pieces gives the same planes`(
        piece: Int
    ) throws {
        let file = try JPEGFile(["-quality", "95"])
        let bytes = try file.bytes
        let headers = 2_000
        let partial = try JPEGFile(bytes: Array(bytes.prefix(headers)))
        let target = open(partial.path, O_RDWR)
        defer { close(target) }
        var written = headers
        let reading = BaselineDecoder.read(descriptor: target, eighths: 1) {
            guard written < bytes.count else { return false }
            let next = Array(bytes[written..<min(written + piece, bytes.count)])
            written += pwrite(target, next, next.count, off_t(written))
            return true
        }
        #expect(try reading == .planes(#require(file.planes(eighths: 1))))
        #expect(written > bytes.count - 4)
    }

    @Test func `A file without its end gives no planes`() throws {
        let bytes = try JPEGFile(["-quality", "95"]).bytes
        let partial = try JPEGFile(bytes: Array(bytes.prefix(bytes.count / 2)))
        let target = open(partial.path, O_RDONLY)
        defer { close(target) }
        #expect(BaselineDecoder.read(descriptor: target, eighths: 1) { false } == .damaged)
    }
}

struct HuffmanTableTests {
    /// ITU-T T.81, K.3.1: the table for the DC coefficients of luma.
    private let counts: [UInt8] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]

    @Test(arguments: [(0b00, 2, 0), (0b010, 3, 1), (0b110, 3, 5), (0b1110, 4, 6), (0b111111110, 9, 11)])
    func `A code is found by its leading bits`(code: Int, length: Int, symbol: Int) throws {
        let table = try #require(HuffmanTable(counts: counts, values: Array(0...11)))
        let entry = table.symbols[code << (HuffmanTable.bits - length)]
        #expect(Int(entry >> 8) == length && Int(entry & 0xFF) == symbol)
    }

    @Test func `Invalid code lengths give no table`() {
        #expect(HuffmanTable(counts: [3] + [UInt8](repeating: 0, count: 15), values: [1, 2, 3]) == nil)
        #expect(HuffmanTable(counts: counts, values: [1]) == nil)
    }

    @Test func `Codes longer than the lookup table are found bit by bit`() throws {
        // One code of each length; the one of 15 bits is fourteen ones and a zero.
        let counts = [UInt8](repeating: 1, count: 16)
        let table = try #require(HuffmanTable(counts: counts, values: Array(1...16)))
        #expect(table.symbols[(1 << HuffmanTable.bits) - 1] == 0)
        let found = try #require(table.longSymbol(0b1111_1111_1111_1100))
        #expect(found.symbol == 15 && found.bits == 15)
        #expect(table.longSymbol(0xFFFF) == nil)
    }
}
