import Foundation
import Glibc
import TestSupport
import Testing

@testable import JPEG

/// The verdict on a JPEG's coded data, and that our own decoder never accepts what libjpeg-turbo would not.
struct JPEGValidationTests {
    private static let kinds: [[String]] = [
        ["-quality", "85"], ["-quality", "85", "-restart", "1"], ["-grayscale"], ["-progressive"], ["-optimize"],
        ["-arithmetic"], ["-quality", "90", "-sample", "1x1"], ["-quality", "85", "-sample", "2x1", "-restart", "7B"],
    ]

    @Test(arguments: kinds) func `A whole file is intact`(options: [String]) throws {
        #expect(try JPEGFile(options).validation == .intact)
    }

    @Test(arguments: kinds) func `A file without its end is damaged, and all of its rows are there`(
        options: [String]
    ) throws {
        let bytes = try JPEGFile(options).bytes
        guard case .damaged(let damage) = try JPEGFile(bytes: bytes.dropLast(2)).validation else {
            Issue.record("no damage")
            return
        }
        // An arithmetic code does not tell how much of the last row was read ahead.
        #expect(damage.intactShare >= (options == ["-arithmetic"] ? 0.95 : 1))
    }

    @Test(arguments: kinds.filter { $0 != ["-progressive"] })
    func `Of a file that is cut, the rows in front of the cut are intact`(options: [String]) throws {
        let bytes = try JPEGFile(options).bytes
        guard case .damaged(let damage) = try JPEGFile(bytes: bytes.prefix(bytes.count * 8 / 10)).validation else {
            Issue.record("no damage")
            return
        }
        #expect((0.6...0.95).contains(damage.intactShare), "\(damage)")
    }

    @Test(arguments: kinds)
    func `A file whose second half was never written is beyond repair`(options: [String]) throws {
        let bytes = try JPEGFile(options).bytes
        let half = bytes.prefix(bytes.count / 2) + Array(repeating: 0, count: max(1_000, bytes.count / 2))
        #expect(try JPEGFile(bytes: half).validation == .damaged(JPEGDamageError(intactShare: 0)))
    }

    @Test func `A progressive file that lacks its last details is whole but for them`() throws {
        let bytes = try JPEGFile(["-progressive"]).bytes
        let late = try JPEGFile(bytes: bytes.prefix(bytes.count * 8 / 10)).validation
        #expect(late == .damaged(JPEGDamageError(intactShare: 1)))
        // Of the means of its blocks alone nobody can tell what it shows.
        let early = try JPEGFile(bytes: bytes.prefix(bytes.count / 12)).validation
        #expect(early == .damaged(JPEGDamageError(intactShare: 0)))
    }

    @Test func `Bits that are no code are found wherever they stand`() throws {
        // Ones alone are no code; 20 of them are in every window that a decoder may look at.
        let whole = try JPEGFile(["-quality", "85", "-restart", "2"]).bytes
        for tenth in 2...9 {
            var bytes = whole
            let place = bytes.count * tenth / 10
            bytes.replaceSubrange(place..<(place + 8), with: [0xFF, 0, 0xFF, 0, 0xFF, 0, 0xFF, 0])
            guard case .damaged(let damage) = try JPEGFile(bytes: bytes).validation else {
                Issue.record("not found at \(tenth) tenths")
                continue
            }
            // A restart marker ends the damage.
            #expect(damage.intactShare > 0.85, "\(damage)")
        }
    }

    @Test func `Bytes in front of a marker change nothing`() throws {
        var bytes = try JPEGFile(["-quality", "85", "-restart", "4"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD2 })
        bytes.insert(contentsOf: [0x12, 0x34], at: marker)
        #expect(try JPEGFile(bytes: bytes).validation == .intact)
        let end = bytes.count - 2
        bytes.insert(contentsOf: [UInt8](repeating: 0x55, count: 3000), at: end)
        #expect(try JPEGFile(bytes: bytes).validation == .intact)
    }

    @Test func `A lost restart marker is found`() throws {
        var bytes = try JPEGFile(["-quality", "85", "-restart", "4"]).bytes
        let marker = try #require(bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xD2 })
        bytes.removeSubrange(marker...(marker + 1))
        guard case .damaged = try JPEGFile(bytes: bytes).validation else {
            Issue.record("not found")
            return
        }
    }

    @Test(arguments: [16, 0x20, 0xFF] as [UInt8]) func `A table with differences of more than 15 bits is refused`(
        symbol: UInt8
    ) throws {
        // The table's last symbol, which no code of the file needs.
        var bytes = try JPEGFile(["-quality", "30"]).bytes
        let table = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xFF, 0xC4]) })
        bytes[table + 4 + 17 + 11 - 0] = symbol
        let file = try JPEGFile(bytes: bytes)
        #expect(file.planes(eighths: 1) == nil)
        #expect(file.validation == .unreadable)
    }

    @Test func `A table with a code of ones alone is refused`() throws {
        // Twelve codes of two and more bits become such that the last one is all ones.
        let counts: [UInt8] = [0, 4] + [UInt8](repeating: 0, count: 14)
        #expect(HuffmanTable(counts: counts, values: [0, 1, 2, 3]) == nil)
        #expect(HuffmanTable(counts: [0, 3] + counts.dropFirst(2), values: [0, 1, 2]) != nil)
    }

    /// ATTACHPREP_LONG tries twenty thousand.
    @Test func `Our decoder accepts no broken file in which libjpeg-turbo invents data`() throws {
        let count = ProcessInfo.processInfo.environment["ATTACHPREP_LONG"] == "1" ? 20_000 : 1_500
        let seeds = try Self.kinds.map { try JPEGFile($0, crop: "157x93").bytes }
        var generator = SeededNumbers(18)
        var accepted = 0
        for index in 0..<count {
            let bytes = Self.broken(seeds[index % seeds.count], &generator)
            let file = try JPEGFile(bytes: bytes)
            defer { unlink(file.path) }
            let ours = file.planes(eighths: 1) != nil
            let theirs = file.careful
            if ours { accepted += 1 }
            #expect(!ours || theirs == .intact, "\(index): \(theirs)")
            #expect(file.validation == theirs, "\(index)")
        }
        #expect(accepted > count / 50)
    }

    private static func broken(_ seed: [UInt8], _ generator: inout SeededNumbers) -> [UInt8] {
        var bytes = seed
        // In the headers as often as in the scan, which is most of the file.
        let end = Bool.random(using: &generator) ? bytes.count : min(700, bytes.count)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 2..<min(end, bytes.count), using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 1, 2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator)))
            case 4:
                let part = bytes[place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator))]
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

    /// By libjpeg-turbo alone.
    var careful: JPEGValidation {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        guard let decoder = try? JPEGDecoder(descriptor: descriptor), decoder.hasWholeFactors else {
            return .unreadable
        }
        do { return try decoder.readThrough().map(JPEGValidation.damaged) ?? .intact } catch { return .unreadable }
    }
}
