import Foundation
import Glibc
import TestSupport
import Testing

@testable import MediaLibraries

/// The verdict on the coded data of a JPEG: the baseline decoder never accepts what libjpeg-turbo rejects.
struct JPEGValidationTests {
    private static let kinds: [[String]] = [
        ["-quality", "85"], ["-quality", "85", "-restart", "1"], ["-grayscale"], ["-progressive"], ["-optimize"],
        ["-arithmetic"], ["-quality", "90", "-sample", "1x1"], ["-quality", "85", "-sample", "2x1", "-restart", "7B"],
    ]

    @Test(arguments: kinds) func `A complete file is intact`(options: [String]) throws {
        #expect(try JPEGFile(options).validation == .intact)
    }

    @Test(arguments: kinds) func `A file without its end marker alone is not damaged`(options: [String]) throws {
        let validation = try JPEGFile(bytes: JPEGFile(options).bytes.dropLast(2)).validation
        guard options == ["-arithmetic"] else {
            #expect(validation == .endMissing)
            return
        }
        // With arithmetic coding it is unknown how much of the last row was read ahead.
        guard case .damaged(let damage) = validation, damage.intactShare >= 0.95 else {
            Issue.record("\(validation)")
            return
        }
    }

    private static let huffman = kinds.filter { $0 != ["-arithmetic"] }

    @Test(arguments: huffman) func `Holes are found whatever is in them`(options: [String]) throws {
        let complete = try JPEGFile(options).bytes
        var generator = SeededGenerator(44)
        var found = 0
        for tenth in 2...9 {
            let noise = (0..<512).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let start = complete.count * tenth / 10
            for hole in [noise, MediaBytes.zeros(512), Array(complete[(start - 600)..<(start - 88)])] {
                var bytes = complete
                bytes.replaceSubrange(start..<min(start + hole.count, bytes.count - 2), with: hole)
                if try JPEGFile(bytes: bytes).validation != .intact { found += 1 }
            }
        }
        #expect(found >= 22, "\(found) of 24")
    }

    @Test(arguments: huffman) func `Image data that is left over is damage, padding is not`(options: [String]) throws {
        let complete = try JPEGFile(options).bytes
        var generator = SeededGenerator(45)
        let rest = (0..<40).map { _ in UInt8.random(in: 1...254, using: &generator) }
        let surplus = try JPEGFile(bytes: complete.dropLast(2) + rest + [0xFF, 0xD9]).validation
        guard case .damaged(let damage) = surplus else {
            Issue.record("\(surplus)")
            return
        }
        #expect(damage.intactShare == 0 || options.contains("-restart"))
        for padding in [Array(rest.prefix(16)), MediaBytes.zeros(5_000), [UInt8](repeating: 0xFF, count: 300)] {
            #expect(try JPEGFile(bytes: complete.dropLast(2) + padding + [0xFF, 0xD9]).validation == .intact)
        }
    }

    @Test func `A file that lost bytes near its beginning is damaged as a whole`() throws {
        // All that follows is shown in the wrong place, although the data lasts for nearly all rows.
        for options in [["-quality", "85"], ["-optimize"], ["-progressive"]] {
            var bytes = try JPEGFile(options).bytes
            bytes.removeSubrange((bytes.count / 5)..<(bytes.count / 5 + 200))
            #expect(try JPEGFile(bytes: bytes).validation == .damaged(JPEGDamageError(intactShare: 0)))
        }
    }

    @Test(arguments: kinds.filter { $0 != ["-progressive"] })
    func `The rows of a truncated file before the cut are intact`(options: [String]) throws {
        let bytes = try JPEGFile(options).bytes
        guard case .damaged(let damage) = try JPEGFile(bytes: bytes.prefix(bytes.count * 8 / 10)).validation else {
            Issue.record("no damage")
            return
        }
        #expect((0.6...0.95).contains(damage.intactShare), "\(damage)")
    }

    @Test(arguments: kinds)
    func `A file whose second half was never written cannot be repaired`(options: [String]) throws {
        let bytes = try JPEGFile(options).bytes
        let half = bytes.prefix(bytes.count / 2) + Array(repeating: 0, count: max(1_000, bytes.count / 2))
        #expect(try JPEGFile(bytes: half).validation == .damaged(JPEGDamageError(intactShare: 0)))
    }

    @Test func `A progressive file is repairable without its last scans, but not with the first one alone`() throws {
        let bytes = try JPEGFile(["-progressive"]).bytes
        let late = try JPEGFile(bytes: bytes.prefix(bytes.count * 8 / 10)).validation
        #expect(late == .damaged(JPEGDamageError(intactShare: 1)))
        // The DC coefficients alone do not show the image.
        let early = try JPEGFile(bytes: bytes.prefix(bytes.count / 12)).validation
        #expect(early == .damaged(JPEGDamageError(intactShare: 0)))
    }

    @Test func `Invalid codes are found at any position`() throws {
        // A run of ones is not a code; a decoder sees 20 of them wherever it reads.
        let complete = try JPEGFile(["-quality", "85", "-restart", "2"]).bytes
        for tenth in 2...9 {
            var bytes = complete
            let offset = bytes.count * tenth / 10
            bytes.replaceSubrange(offset..<(offset + 8), with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
            guard case .damaged(let damage) = try JPEGFile(bytes: bytes).validation else {
                Issue.record("not found at \(tenth) tenths")
                continue
            }
            // The damage ends at the next restart marker.
            #expect(damage.intactShare > 0.85, "\(damage)")
        }
    }

    @Test func `Extra bytes before a marker are ignored`() throws {
        var bytes = try JPEGFile(["-quality", "85", "-restart", "4"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD2 })
        bytes.insert(contentsOf: [0x12, 0x34], at: marker)
        #expect(try JPEGFile(bytes: bytes).validation == .intact)
        let end = bytes.count - 2
        bytes.insert(contentsOf: [UInt8](repeating: 0x55, count: 3000), at: end)
        #expect(try JPEGFile(bytes: bytes).validation == .intact)
    }

    @Test func `A missing restart marker is found`() throws {
        var bytes = try JPEGFile(["-quality", "85", "-restart", "4"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD2 })
        bytes.removeSubrange(marker...(marker + 1))
        guard case .damaged = try JPEGFile(bytes: bytes).validation else {
            Issue.record("not found")
            return
        }
    }

    @Test(arguments: [16, 0x20, 0xFF] as [UInt8]) func `A table with differences of more than 15 bits is rejected`(
        symbol: UInt8
    ) throws {
        // The last symbol of the table, which the file does not use.
        var bytes = try JPEGFile(["-quality", "30"]).bytes
        let table = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC4]) })
        bytes[table + 4 + 17 + 11 - 0] = symbol
        let file = try JPEGFile(bytes: bytes)
        #expect(file.planes(eighths: 1) == nil)
        #expect(file.validation == .unreadable)
    }

    @Test func `A table with a code of only ones is rejected`() throws {
        // Four codes of two bits, the last one all ones; three of them are valid.
        let counts: [UInt8] = [0, 4] + [UInt8](repeating: 0, count: 14)
        #expect(HuffmanTable(counts: counts, values: [0, 1, 2, 3]) == nil)
        #expect(HuffmanTable(counts: [0, 3] + counts.dropFirst(2), values: [0, 1, 2]) != nil)
    }

    /// With `ATTACHPREP_LONG`, 20,000 files are tried.
    @Test func `The baseline decoder accepts no broken file that libjpeg-turbo reports as damaged`() throws {
        let count = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == "1" ? 20_000 : 1_500
        let seeds = try Self.kinds.map { try JPEGFile($0, crop: "157x93").bytes }
        var generator = SeededGenerator(18)
        var accepted = 0
        for index in 0..<count {
            let bytes = Self.broken(seeds[index % seeds.count], &generator)
            let file = try JPEGFile(bytes: bytes)
            defer { unlink(file.path) }
            let isAccepted = file.planes(eighths: 1) != nil
            let (validation, reference) = (file.validation, file.libjpegValidation)
            if isAccepted { accepted += 1 }
            #expect(!isAccepted || reference == .intact, "\(index): \(reference)")
            #expect(validation != .intact || reference == .intact, "\(index): \(reference)")
            #expect((validation == .unreadable) == (reference == .unreadable) || validation != .intact, "\(index)")
        }
        #expect(accepted > count / 50)
    }

    private static func broken(_ seed: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = seed
        // Half of the changes are in the headers, although the scan is most of the file.
        let end = Bool.random(using: &generator) ? bytes.count : min(700, bytes.count)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let offset = Int.random(in: 2..<min(end, bytes.count), using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[offset] = UInt8.random(in: 0...255, using: &generator)
            case 1, 2: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3: bytes.removeSubrange(offset..<min(bytes.count, offset + Int.random(in: 1...40, using: &generator)))
            case 4:
                let part = bytes[offset..<min(bytes.count, offset + Int.random(in: 1...40, using: &generator))]
                bytes.insert(contentsOf: Array(part), at: Int.random(in: 2..<bytes.count, using: &generator))
            default: bytes.removeLast(min(bytes.count - 100, Int.random(in: 1...bytes.count / 4, using: &generator)))
            }
            if bytes.count < 120 { return seed }
        }
        return bytes
    }
}

extension JPEGFile {
    var validation: JPEGValidation {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        return JPEGValidation(descriptor: descriptor)
    }

    /// The verdict of libjpeg-turbo alone.
    var libjpegValidation: JPEGValidation {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        guard let decoder = try? JPEGDecoder(descriptor: descriptor), decoder.hasWholeFactors else {
            return .unreadable
        }
        return (try? decoder.readThrough()) ?? .unreadable
    }
}
