import FuzzSupport

/// Scripts a server from the bytes of one input: zeros give correct answers, each other byte corrupts a message.
///
/// The protocol: https://www.postgresql.org/docs/15/protocol-message-formats.html
final class PostgresScript {
    private var input: FuzzInput
    /// Whether the connection is closed after the last answer.
    private(set) var isOver = false
    /// Bytes that this input may still send, to limit its time.
    private var bytesLeft = 3_000_000

    init(_ input: FuzzInput) {
        self.input = input
    }

    // MARK: Messages

    private func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
        [kind.asciiValue ?? 0] + Self.word(body.count + 4) + body
    }

    private static func word(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func half(_ number: Int) -> [UInt8] {
        [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    /// The message itself if the next byte is 0, else something in its place.
    private func sent(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
        let correct = message(kind, body)
        let choice = input.byte()
        let bytes: [UInt8] =
            switch choice {
            case 0...127 where choice % 16 != 15: correct
            case 128...135: correct + correct
            case 136...143: []
            case 144...151: Array(correct.prefix(Int(input.byte())))
            case 152...159: wrongLength(correct)
            case 160...167: error() + correct
            case 168...175: error()
            case 176...183: notice() + correct
            case 184...191: notification() + correct
            case 192...199: message("S", Self.text("server_version") + Self.text(value())) + correct
            case 200...207: message(anyKind(), body)
            case 208...215: message(anyKind(), arbitrary()) + correct
            case 216...223: flipped(correct)
            case 224...231: message("Z", [input.byte()]) + correct
            case 232...239: closing(correct)
            default: arbitrary()
            }
        let taken = Array(bytes.prefix(bytesLeft))
        bytesLeft -= taken.count
        if bytesLeft == 0 { isOver = true }
        return taken
    }

    private func anyKind() -> Character {
        let kinds = Array("RKSZTDCEINA123nstGHWdcVv")
        return kinds[Int(input.byte()) % kinds.count]
    }

    private func arbitrary() -> [UInt8] { (0..<(Int(input.byte()) % 40)).map { _ in input.byte() } }

    private func flipped(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let index = Int(input.byte()) % bytes.count
        bytes[index] ^= max(1, input.byte())
        return bytes
    }

    private func closing(_ bytes: [UInt8]) -> [UInt8] {
        isOver = true
        return input.byte() & 1 == 0 ? bytes : []
    }

    private static let lengths = [
        0, 3, 4, 5, -1, -5, .init(Int32.min), .init(Int32.max), 1_000, 30_001, 65_536, 1_000_000, 100_000_000,
        1_000_000_000,
    ]

    private func wrongLength(_ bytes: [UInt8]) -> [UInt8] {
        let length = Self.lengths[Int(input.byte()) % Self.lengths.count]
        return Array(bytes.prefix(1)) + Self.word(length) + bytes.dropFirst(5)
    }

    private static let states = [
        "40001", "40P01", "55P03", "25006", "53100", "53200", "53300", "57P01", "57P03", "57014", "58030", "42501",
        "42P01", "23505", "00000", "", "\u{1B}[2J", "0123456789012345678901234567890", "é",
    ]

    private func fields() -> [UInt8] {
        let state = Self.states[Int(input.byte()) % Self.states.count]
        let severity = ["ERROR", "FATAL", "PANIC", "WARNING", "é\u{1B}"][Int(input.byte()) % 5]
        var fields: [(Character, String)] = [("S", severity), ("V", severity), ("C", state), ("M", value())]
        fields += [("D", "secret"), ("W", "secret"), ("P", "99999999999"), ("?", "x")]
        let left = input.byte()
        if left & 7 == 7 { fields.removeFirst(Int(left >> 4) % fields.count) }
        return fields.flatMap { [$0.0.asciiValue ?? 0] + Self.text($0.1) } + (left & 8 == 8 ? [] : [0])
    }

    private func error() -> [UInt8] { message("E", fields()) }

    private func notice() -> [UInt8] { message("N", fields()) }

    private func notification() -> [UInt8] {
        let channel = input.byte() & 1 == 0 ? "attachprep_fuzz" : value()
        return message("A", Self.word(7) + Self.text(channel) + Self.text(value()))
    }

    // MARK: The conversation

    /// What follows the startup message.
    func greeting() -> [UInt8] {
        let choice = input.byte()
        switch choice {
        case 0...199: return authentication(choice) + welcome()
        case 200...219: return sent("R", Self.word(10) + Self.text("SCRAM-SHA-256") + [0])
        case 220...227: return sent("R", Self.word(3))
        case 228...235: return sent("R", Self.word(5) + [1, 2, 3, 4])
        case 236...243: return sent("R", Self.word(Int(input.byte())) + arbitrary())
        case 244...247: return error()
        default: return arbitrary()
        }
    }

    private func authentication(_ choice: UInt8) -> [UInt8] { choice < 100 ? [] : sent("v", arbitrary()) }

    private func welcome() -> [UInt8] {
        let settings = [
            ("server_version", "15.18"), ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"),
            ("integer_datetimes", "on"),
        ]
        return sent("R", Self.word(0)) + settings.flatMap { message("S", Self.text($0.0) + Self.text($0.1)) }
            + sent("K", Self.word(42) + Self.word(77)) + sent("Z", [UInt8(ascii: "I")])
    }

    func answer(to message: (kind: UInt8, body: [UInt8])) -> [UInt8] {
        switch message.kind {
        case UInt8(ascii: "P"):
            let sql = String(decoding: message.body.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
            statements.append(sql)
            return sent("1", [])
        case UInt8(ascii: "B"): return sent("2", [])
        case UInt8(ascii: "D"): return description()
        case UInt8(ascii: "E"): return execution()
        case UInt8(ascii: "S"): return sent("Z", [Array("ITE?".utf8)[Int(input.byte()) % 4]])
        case UInt8(ascii: "p"): return password(message.body)
        case UInt8(ascii: "X"):
            isOver = true
            return []
        default: return sent("Z", [UInt8(ascii: "I")])
        }
    }

    private var statements: [String] = []
    private var columns: [Int] = []

    private func password(_ body: [UInt8]) -> [UInt8] {
        let nonce = String(decoding: body, as: UTF8.self).split(separator: ",").last { $0.hasPrefix("r=") } ?? "r="
        switch input.byte() % 4 {
        case 0: return welcome()
        case 1: return sent("R", Self.word(11) + Array("\(nonce)x,s=QUJD,i=\(Int(input.byte()) * 5)".utf8))
        case 2: return sent("R", Self.word(12) + Array("v=AAAA".utf8)) + welcome()
        default: return sent("R", Self.word(11 + Int(input.byte()) % 3) + arbitrary())
        }
    }

    private static let types = [25, 20, 21, 23, 16, 17, 26, 1700, 1009, 0, -1, 2_147_483_647]

    private func isQuery(_ sql: String) -> Bool { sql.hasPrefix("SELECT") }

    private func description() -> [UInt8] {
        let isQuery = isQuery(statements.last ?? "") != (input.byte() == 0xFF)
        guard isQuery else {
            columns = []
            return sent("n", [])
        }
        let count = Int(input.byte()) % 6
        columns = (0..<(count == 0 ? 1 : count)).map { _ in
            // The clock's column, unless the input says otherwise.
            let choice = Int(input.byte())
            return choice == 0 ? 20 : Self.types[choice % Self.types.count]
        }
        let described = columns.flatMap { type in
            Self.text("column") + Self.word(0) + Self.half(0) + Self.word(type) + Self.half(-1) + Self.word(-1)
                + Self.half(input.byte() == 0xFE ? 1 : 0)
        }
        let declared = input.byte() == 0xFD ? Int(input.byte()) << 8 | Int(input.byte()) : columns.count
        return sent("T", Self.half(declared) + described)
    }

    private func execution() -> [UInt8] {
        let sql = statements.popLast() ?? ""
        let tags = [
            "BEGIN", "COMMIT", "ROLLBACK", "SELECT 1", "UPDATE 99999999999999999999", "INSERT 0 -1", "", "\u{1B}",
            "UPDATE 2",
        ]
        let choice = Int(input.byte())
        let usual = sql.hasPrefix("BEGIN") ? "BEGIN" : sql.hasPrefix("COMMIT") ? "COMMIT" : "SELECT 1"
        let tag = choice < 200 ? usual : tags[choice % tags.count]
        return rows() + sent("C", Self.text(tag))
    }

    private func rows() -> [UInt8] {
        guard !columns.isEmpty else { return [] }
        let choice = Int(input.byte())
        let count = choice < 200 ? 1 : choice < 250 ? choice - 200 : 2_000
        var bytes: [UInt8] = []
        for _ in 0..<count where bytes.count < bytesLeft {
            let values = columns.flatMap { _ -> [UInt8] in
                if input.byte() == 0xFC { return Self.word(-1) }
                let value = Array(value().utf8)
                return Self.word(value.count) + value
            }
            let declared = input.byte() == 0xFB ? Int(input.byte()) : columns.count
            bytes += sent("D", Self.half(declared) + values)
        }
        return bytes
    }

    private static let values = [
        "1700000000000", "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "+5", " 5",
        "1e5", "NaN", "t", "f", "true", "", "\\x00ff", "\\x0", "\\xzz", "\\\\", "\\000\\", "{a,b}", "é\u{301}",
        "\u{1B}[2J\u{202E}", "99999999999999999999999999999999999999", "0000000000000000000000000000007", "1.5",
    ]

    private func value() -> String {
        let choice = Int(input.byte())
        switch choice {
        case 0..<230: return Self.values[choice % Self.values.count]
        case 230..<250: return String(decoding: arbitrary(), as: UTF8.self)
        default: return String(repeating: "9", count: 200_000)
        }
    }
}
