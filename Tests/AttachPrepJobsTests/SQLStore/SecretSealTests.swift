import AttachPrepModel
import MediaTypes
import SQLStore
import Testing

@Suite struct SecretSealTests {
    private static let old = "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    private static let new = "k2:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="

    @Test func `A sealed text is opened for its row, and for no other`() throws {
        let seal = try SecretSeal(Self.old)
        let sealed = try seal.seal("Bearer secret", for: "job 1")
        #expect(sealed.hasPrefix("k1:") && !sealed.contains("secret"))
        #expect(try seal.open(sealed, for: "job 1") == "Bearer secret")
        #expect(throws: AttachPrepError.self) { try seal.open(sealed, for: "job 2") }
    }

    @Test func `The same text is sealed differently each time`() throws {
        let seal = try SecretSeal(Self.old)
        #expect(try seal.seal("a", for: "row") != seal.seal("a", for: "row"))
    }

    @Test func `The first key seals, and all of them open`() throws {
        let sealed = try SecretSeal(Self.old).seal("a", for: "row")
        let rotated = try SecretSeal("# new\n\(Self.new)\n\n\(Self.old)\n")
        #expect(try rotated.open(sealed, for: "row") == "a")
        #expect(try rotated.seal("a", for: "row").hasPrefix("k2:"))
        #expect(throws: AttachPrepError.self) { try SecretSeal(Self.new).open(sealed, for: "row") }
    }

    @Test(arguments: ["", "k1", "k1:AAAA", ":AAAA", "k 1:AAAA", "\(old)\n\(old)", "k1:not base64!"])
    func `A file without a usable key is refused, and its text is not in the message`(_ text: String) {
        let error = #expect(throws: AttachPrepError.self) { try SecretSeal(text) }
        #expect(error?.code == .requestInvalid && error?.message.contains("AAAA") == false)
    }

    @Test(arguments: ["", "k1", "k1:", "k1:AAAA", "k9:AAAA", "k1:%%%"])
    func `A text that was not sealed is an error`(_ text: String) throws {
        let seal = try SecretSeal(Self.old)
        #expect(throws: AttachPrepError.self) { try seal.open(text, for: "row") }
    }
}
