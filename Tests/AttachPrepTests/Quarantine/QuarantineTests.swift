import Foundation
import Glibc
import Logging
import MediaEngine
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// Content that crashed its media process is recorded, rejected and lifted.
struct QuarantineTests {
    private let folder: TemporaryFolder
    private let crash = AttachPrepError(.mediaDecoderCrashed, "Crashed.", detail: "signal 11, Segmentation fault")

    init() throws {
        folder = try TemporaryFolder()
    }

    private var state: String { folder.path("state") }
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private func quarantine() -> Quarantine { Quarantine(dataFolder: state, logger: silent) }

    private func digest(_ character: Character) -> String { String(repeating: character, count: 64) }

    private func content(_ digest: String, prefixes: [String] = []) -> QuarantineEntry {
        QuarantineEntry(digest: digest, subject: .content, prefixes: prefixes)
    }

    @discardableResult
    private func strike(_ quarantine: Quarantine, _ entry: QuarantineEntry, times: Int = 1) -> AttachPrepError {
        var error = crash
        for _ in 0..<times { error = quarantine.record(crash, subject: entry, source: "https://cdn.example/cat.gif") }
        return error
    }

    @Test func `The first crash is reported as it is, the second quarantines the content`() throws {
        let quarantine = quarantine()
        #expect(strike(quarantine, content(digest("a"))) == crash)
        try quarantine.check(digest("a"))
        let error = strike(quarantine, content(digest("a")))
        #expect(error.code == .mediaQuarantined && !error.isRetryable)
        #expect(error.message.contains("attachprep quarantine lift aaaaaaaaaaaaaaaa"))
        #expect(throws: AttachPrepError.self) { try quarantine.check(digest("a")) }
        try quarantine.check(digest("b"))
    }

    @Test func `Strikes and rejections are counted`() {
        let quarantine = quarantine()
        strike(quarantine, content(digest("a")), times: 2)
        for name in ["a", "a", "b"] as [Character] { try? quarantine.check(digest(name)) }
        #expect(quarantine.counts.strikes == 2 && quarantine.counts.rejections == 2)
    }

    @Test func `Another process with the same data folder rejects the content too`() throws {
        strike(quarantine(), content(digest("a")))
        strike(quarantine(), content(digest("a")))
        let error = #expect(throws: AttachPrepError.self) { try quarantine().check(digest("a")) }
        #expect(error?.code == .mediaQuarantined)
        let entry = try #require(quarantine().entries().first)
        #expect(entry.strikes.map(\.ending) == [crash.detail, crash.detail])
        #expect(entry.strikes.last?.source == "https://cdn.example/cat.gif" && entry.isQuarantined)
    }

    @Test func `Concurrent strikes are not lost`() async {
        let entries = (0..<8).map { content(digest(Character("\($0)"))) }
        await withTaskGroup { group in
            for entry in entries + entries { group.addTask { strike(quarantine(), entry) } }
        }
        #expect(quarantine().entries().count { $0.isQuarantined } == 8)
        #expect((try? folder.contents().filter { $0.hasSuffix("/new") }) == [])
    }

    @Test func `Strikes expire`() {
        let now = Date.now
        func strike(daysAgo: Double) -> QuarantineEntry.Strike {
            QuarantineEntry.Strike(date: now - daysAgo * 86_400, ending: "", source: "")
        }
        let entry = content(digest("a"))
        #expect(entry.adding(strike(daysAgo: 13)).adding(strike(daysAgo: 0)).isQuarantined)
        #expect(!entry.adding(strike(daysAgo: 15)).adding(strike(daysAgo: 0)).isQuarantined)
        let old = entry.adding(strike(daysAgo: 20)).adding(strike(daysAgo: 13.5))
        #expect(
            old.isQuarantined && !old.withoutExpiredStrikes(at: now).isQuarantined
                && old.withoutExpiredStrikes(at: now + 86_400).strikes.isEmpty)
    }

    @Test func `Lifted content is tried again`() throws {
        let quarantine = quarantine()
        strike(quarantine, content(digest("a"), prefixes: ["p"]), times: 2)
        strike(quarantine, content("ab" + digest("c"), prefixes: ["p", "q"]), times: 2)
        #expect(quarantine.isSuspect(prefix: "p") && quarantine.isSuspect(prefix: "q"))
        for unknown in ["", "x", "ffff"] {
            let error = #expect(throws: AttachPrepError.self) { try quarantine.lift(unknown) }
            #expect(error?.code == .requestNotFound)
        }
        let ambiguous = #expect(throws: AttachPrepError.self) { try quarantine.lift("a") }
        #expect(ambiguous?.message.contains("2 entries begin with a") == true)
        #expect(try quarantine.lift("AB") == "ab" + digest("c"))
        // The other entry has the same prefix.
        #expect(quarantine.isSuspect(prefix: "p") && !quarantine.isSuspect(prefix: "q"))
        try quarantine.check("ab" + digest("c"))
        #expect(try quarantine.liftAll() == 1)
        #expect(!quarantine.isSuspect(prefix: "p") && quarantine.entries().isEmpty)
        try quarantine.check(digest("a"))
    }

    @Test func `The oldest entries are evicted`() throws {
        let small = QuarantineFolder(folder: state, entriesMax: 10)
        for number in 0..<12 {
            let entry = content(digest(Character(String(number, radix: 16))), prefixes: ["prefix\(number)"])
            let date = Date(timeIntervalSince1970: Double(number))
            _ = try small.update(entry.digest) {
                var entry = $0 ?? entry
                entry.strikes = [.init(date: date, ending: "", source: ""), .init(date: date, ending: "", source: "")]
                return entry
            }
        }
        #expect(small.entries().count <= 10)
        #expect(small.entry(digest("b")) != nil && small.entry(digest("0")) == nil)
        #expect(small.hasPrefix("prefix11") && !small.hasPrefix("prefix0"))
    }

    @Test func `A file that is not an entry is ignored`() throws {
        try folder.makeFolder("state/quarantine")
        try folder.write("{", to: "state/quarantine/\(digest("a")).json")
        try folder.write("", to: "state/quarantine/\(digest("b")).json")
        try quarantine().check(digest("a"))
        #expect(quarantine().entries().isEmpty)
        let error = strike(quarantine(), content(digest("a")), times: 2)
        #expect(error.code == .mediaQuarantined)
    }

    @Test(arguments: [nil, "/dev/null/state"])
    func `Without a folder the quarantine is kept in memory`(state: String?) throws {
        let quarantine = Quarantine(dataFolder: state, logger: silent)
        #expect(strike(quarantine, content(digest("a"), prefixes: ["p"])).code == .mediaDecoderCrashed)
        #expect(strike(quarantine, content(digest("a"), prefixes: ["p"])).code == .mediaQuarantined)
        #expect(throws: AttachPrepError.self) { try quarantine.check(digest("a")) }
        #expect(quarantine.isSuspect(prefix: "p") && quarantine.entries().count == 1)
        #expect(try quarantine.lift("a") == digest("a"))
        try quarantine.check(digest("a"))
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/var/state", "HOME": "/home/a"], "/var/state/attachprep"),
        (["XDG_STATE_HOME": "state", "HOME": "/home/a"], "/home/a/.local/state/attachprep"),
        (["HOME": "/home/a"], "/home/a/.local/state/attachprep"), (["HOME": ""], nil), ([:], nil),
    ]) func `The default data folder follows the environment`(environment: [String: String], path: String?) {
        #expect(DefaultDataFolder.path(environment: environment) == path)
    }

    @Test(arguments: [
        (4_095, false, 4_095), (4_096, false, 4_096), (65_535, false, 4_096), (65_536, false, 65_536),
        (1_000_000, false, 65_536), (10, true, 10), (60_000, true, 60_000), (1_000_000, true, 65_536),
    ]) func `Prefix lengths are the same however a file is received`(available: Int, isComplete: Bool, length: Int) {
        #expect(PrefixDigest.length(available: available, isComplete: isComplete) == length)
    }
}
