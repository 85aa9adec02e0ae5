/// Words, numbers and strings of a JSON text.
extension PayloadParser {
    /// `true`, `false` or `null`.
    mutating func word() throws(AttachPrepError) -> PayloadNode.Content {
        let start = position
        while let byte = next, isLetter(byte) { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        switch word {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            position = start
            throw unknown(word)
        }
    }

    private func unknown(_ word: String) -> AttachPrepError {
        switch next {
        case nil: return cutOff()
        case UInt8(ascii: "'"): return fault("has a string in single quotes", "use double quotes")
        case UInt8(ascii: "+"), UInt8(ascii: "."): return fault("has a number that begins with no digit", "write 0.5")
        case _ where isComment: return comment()
        default:
            let what = word.isEmpty ? "has no value" : "has the word \(SpokenText.quoted(word))"
            return fault(what, "write a string, a number, an object, an array, true, false or null")
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// As it is spelled.
    mutating func number() throws(AttachPrepError) -> String {
        let start = position
        if next == UInt8(ascii: "-") { position += 1 }
        let isZero = next == UInt8(ascii: "0")
        guard digits() > 0 else { throw fault("has a minus without a number", "write digits after it") }
        let firstDigit = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        if isZero, position > firstDigit + 1 {
            position = start
            throw fault("has a number with a leading zero", "write it without, or as a string")
        }
        if next == UInt8(ascii: ".") {
            position += 1
            guard digits() > 0 else { throw fault("has a number that ends with its point", "write digits after it") }
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            guard digits() > 0 else { throw fault("has a number without its exponent", "write digits after the e") }
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = position
        while let byte = next, isDigit(byte) { position += 1 }
        return position - start
    }

    /// What a string says; its characters and escapes are checked on the way.
    mutating func string() throws(AttachPrepError) -> String {
        let start = position
        position += 1
        var isEscaped = false
        while let byte = next, byte != UInt8(ascii: "\"") {
            switch byte {
            case UInt8(ascii: "\\"):
                isEscaped = true
                try escape()
            case 0x00..<0x20:
                throw fault(
                    "has a control character (U+\(hexadecimal(byte))) in a string",
                    "write it as \(String(decoding: PayloadSpelling.escaped(byte), as: UTF8.self))")
            case 0x20..<0x80: position += 1
            default: try character()
            }
        }
        guard next != nil else {
            throw PayloadFault(bytes: bytes).error("has a string without an end", at: start, "close it with a quote")
        }
        position += 1
        let text =
            isEscaped
            ? String(decoding: PayloadStringToken(bytes, start..<position).content, as: UTF8.self)
            : String(decoding: bytes[start + 1..<position - 1], as: UTF8.self)
        try refuseMarks(in: text, at: start)
        return text
    }

    /// Two texts are compared in one canonical order of their marks, which to find takes the square of their number.
    private func refuseMarks(in text: String, at start: Int) throws(AttachPrepError) {
        guard text.utf8.count > Limits.payloadMarksMax else { return }
        var marks = 0
        for scalar in text.unicodeScalars {
            let isMark = !scalar.isASCII && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isMark ? marks + 1 : 0
            guard marks <= Limits.payloadMarksMax else {
                throw PayloadFault(bytes: bytes).error(
                    "has a string with more than \(Limits.payloadMarksMax) combining marks on one character", at: start,
                    "remove them")
            }
        }
    }

    private func hexadecimal(_ byte: UInt8) -> String { (byte < 16 ? "000" : "00") + String(byte, radix: 16) }

    private mutating func escape() throws(AttachPrepError) {
        guard position + 1 < bytes.count else { throw cutOff() }
        guard bytes[position + 1] == UInt8(ascii: "u") else {
            guard PayloadSpelling.meaning(ofEscape: bytes[position + 1]) != nil else {
                throw fault("has an escape that JSON does not know", #"write a backslash itself as \\"#)
            }
            position += 2
            return
        }
        guard let unit = PayloadSpelling.codeUnit(bytes, at: position) else {
            throw fault(#"has a \u without four hexadecimal digits"#, #"write a backslash itself as \\"#)
        }
        let isPair =
            UTF16.isLeadSurrogate(unit)
            && PayloadSpelling.codeUnit(bytes, at: position + 6).map(UTF16.isTrailSurrogate) == true
        guard isPair || !UTF16.isSurrogate(unit) else {
            throw fault(
                #"has half of a surrogate pair (\u\#(String(unit, radix: 16)))"#,
                "write both halves, or the character itself")
        }
        position += isPair ? 12 : 6
    }

    /// Past one character of several bytes: no overlong form, no surrogate, nothing beyond U+10FFFF.
    private mutating func character() throws(AttachPrepError) {
        let lead = bytes[position]
        let (count, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xE1...0xEF: (3, 0x80...0xBF)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0...0)
            }
        let end = position + count
        guard count > 0, end <= bytes.count, second.contains(bytes[position + 1]),
            bytes[position + 2..<max(end, position + 2)].allSatisfy({ $0 & 0xC0 == 0x80 })
        else { throw fault("has a byte that is no UTF-8", "save it as UTF-8") }
        position = end
    }
}

extension UTF16 {
    static func isSurrogate(_ unit: UInt16) -> Bool { unit & 0xF800 == 0xD800 }
}
