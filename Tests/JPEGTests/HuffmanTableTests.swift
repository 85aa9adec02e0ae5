import Testing

@testable import JPEG

struct HuffmanTableTests {
    /// T.81, K.3.1: the table that is printed there for the first coefficients of luma.
    private let counts: [UInt8] = [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]

    @Test(arguments: [(0b00, 2, 0), (0b010, 3, 1), (0b110, 3, 5), (0b1110, 4, 6), (0b111111110, 9, 11)])
    func `A code is found by the bits that begin with it`(code: Int, length: Int, symbol: Int) throws {
        let table = try #require(HuffmanTable(counts: counts, values: Array(0...11)))
        let entry = table.symbols[code << (HuffmanTable.bits - length)]
        #expect(Int(entry >> 8) == length && Int(entry & 0xFF) == symbol)
    }

    @Test func `Lengths that make no code make no table`() {
        #expect(HuffmanTable(counts: [3] + [UInt8](repeating: 0, count: 15), values: [1, 2, 3]) == nil)
        #expect(HuffmanTable(counts: counts, values: [1]) == nil)
    }

    @Test func `Codes longer than what is looked up are found bit by bit`() throws {
        // One code of each length; the one of 15 bits is fourteen ones and a zero.
        let counts = [UInt8](repeating: 1, count: 16)
        let table = try #require(HuffmanTable(counts: counts, values: Array(1...16)))
        #expect(table.symbols[(1 << HuffmanTable.bits) - 1] == 0)
        let found = try #require(table.longSymbol(0b1111_1111_1111_1100))
        #expect(found.symbol == 15 && found.bits == 15)
        #expect(table.longSymbol(0xFFFF) == nil)
    }
}
