/// A sentence about one place of a JSON text: the thing, line and column, the remedy.
struct PayloadFault {
    let bytes: [UInt8]

    /// `payload.invalid`: "The payload" with what it does, where, and what to do about it.
    func error(_ what: String, at offset: Int, _ remedy: String) -> AttachPrepError {
        let (line, column) = place(of: offset)
        return AttachPrepError(
            .payloadInvalid, "The payload \(what) at line \(line), column \(column); \(remedy).")
    }

    /// Line and column, from 1; columns count characters (Unicode scalars), and a tab is one.
    func place(of offset: Int) -> (line: Int, column: Int) {
        var (line, column) = (1, 1)
        for index in 0..<min(offset, bytes.count) {
            let isPairsFirst =
                bytes[index] == UInt8(ascii: "\r") && index + 1 < bytes.count
                && bytes[index + 1] == UInt8(ascii: "\n")
            switch bytes[index] {
            case UInt8(ascii: "\r") where isPairsFirst: continue
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"): (line, column) = (line + 1, 1)
            // A character's further bytes in UTF-8.
            case 0x80...0xBF: continue
            default: column += 1
            }
        }
        return (line, column)
    }
}
