/// Numbers as names are made of them.
enum HexadecimalText {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Sixteen digits for each number.
    ///
    /// - Parameter places: digits, counted from 0, that have a dash before them.
    static func of(_ numbers: [UInt64], dashesBefore places: [Int] = []) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(numbers.count * 16 + places.count)
        for place in 0..<numbers.count * 16 {
            if places.contains(place) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(numbers[place / 16] >> UInt64(60 - place % 16 * 4) & 0xF)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
