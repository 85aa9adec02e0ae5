import TestSupport
import Testing

@testable import SafeArithmetic

@Suite struct ForeignTextTests {
    @Test func `Text that looks alike is equal only byte for byte`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(ForeignText(composed) != ForeignText(decomposed))
        #expect(Set([ForeignText(composed), ForeignText(decomposed), ForeignText(composed)]).count == 2)
    }

    @Test func `Text is trimmed, split and read as ASCII`() {
        #expect(ForeignText(" \ta b\t ").trimmed == "a b")
        #expect(ForeignText("a,,b").split(at: UInt8(ascii: ",")) == ["a", "", "b"])
        #expect(ForeignText("a=b=c").split(at: UInt8(ascii: "="), maxSplits: 1) == ["a", "b=c"])
        #expect(ForeignText("ÄBC").lowercased == "Äbc")
        #expect(ForeignText("12").number == 12 && ForeignText("99999999999999999999").number == .max)
        #expect(ForeignText("+1").number == nil && ForeignText("").number == nil && ForeignText("１").number == nil)
    }

    @Test(.enabled(if: LinearCost.isCompared), arguments: HostileText.allCases)
    func `Comparing, hashing and sorting take linear time`(shape: HostileText) {
        let cost = LinearCost.measure(100_000, of: { (ForeignText(shape.text($0)), ForeignText(shape.text($0) + "x")) })
        {
            let (left, right) = $0
            #expect(left != right && left < right && Set([left, right]).count == 2)
        }
        #expect(cost.isLinear, "\(cost)")
    }

    @Test(arguments: [
        "Nguye\u{302}\u{303}n Tha\u{323}\u{302}t", "नमस्ते क्षत्रिय", "สวัสดีปีใหม่ ที่นี่", "مُحَمَّدٌ ﷺ",
        "👨‍👩‍👧‍👦 👩🏽‍🚀 🇻🇳", "שָׁלוֹם", "བོད་སྐད་",
    ]) func `Text of real languages has few marks in a row`(text: String) {
        #expect(CombiningMarks.areBounded(in: text.utf8))
        #expect(CombiningMarks.areBounded(in: String(repeating: text, count: 100)))
    }

    @Test func `A run of marks is found wherever it is`() {
        let marks = (0..<31).map { $0 % 2 == 0 ? "\u{301}" : "\u{323}" }.joined()
        for text in [marks, "a\(marks)", "a\(marks)b", String(repeating: "a\u{301}", count: 100) + marks] {
            #expect(!CombiningMarks.areBounded(in: text.utf8))
        }
        #expect(CombiningMarks.areBounded(in: String(marks.unicodeScalars.dropLast()).utf8))
        #expect(CombiningMarks.areBounded(in: [0xFF, 0xCC, 0x81] as [UInt8]))
    }
}

@Suite struct MessageTextTests {
    @Test func `Every control character of C0 and C1 is escaped`() {
        for value in Array(0..<0x20) + Array(0x7F...0x9F) + [0x2028, 0x202E, 0x2066] {
            guard let scalar = Unicode.Scalar(UInt32(value)) else { continue }
            let shown = MessageText.message("a\(scalar)b")
            #expect(shown == "a\\u{\(String(value, radix: 16))}b")
        }
    }

    @Test func `A long text is cut between characters`() {
        #expect(MessageText.excerpt(String(repeating: "é", count: 100), bytesMax: 9) == "éééé…")
        #expect(MessageText.excerpt("123456789", bytesMax: 9) == "123456789")
        #expect(MessageText.message(String(repeating: "x", count: 99_999)).utf8.count == 2_051)
    }

    @Test(arguments: ["Việt Nam", "नमस्ते", "👨‍👩‍👧‍👦", "مُحَمَّد"]) func `Ordinary text is unchanged`(text: String) {
        #expect(MessageText.message(text) == text)
    }

    @Test(.enabled(if: LinearCost.isCompared), arguments: HostileText.allCases) func `Cutting takes linear time`(
        shape: HostileText
    ) {
        let cost = LinearCost.measure(100_000, of: shape.text) { #expect(MessageText.message($0).utf8.count <= 2_060) }
        #expect(cost.isLinear, "\(cost)")
    }
}
