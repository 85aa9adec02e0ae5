#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Base64 of letters that subjects and addresses may have, padded: RFC 4648, section 5.
enum AddressBase64 {
    static func text(_ bytes: [UInt8]) -> String {
        String(
            Data(bytes).base64EncodedString().map { (letter: Character) -> Character in
                switch letter {
                case "+": "-"
                case "/": "_"
                default: letter
                }
            })
    }

    /// Nil for what is none.
    static func bytes(_ text: String) -> [UInt8]? {
        let usual = String(
            text.map { (letter: Character) -> Character in
                switch letter {
                case "-": "+"
                case "_": "/"
                default: letter
                }
            })
        return Data(base64Encoded: usual).map { Array($0) }
    }
}
