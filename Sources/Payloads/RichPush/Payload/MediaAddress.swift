/// Classifies and percent-encodes the media addresses of payloads.
package enum MediaAddress {
    /// Classifies an address; nil when it is empty.
    package static func read(_ text: String, namesLocalFiles: Bool) -> PayloadMediaItem.Address? {
        let address = PrintableText.trimmed(text)
        guard !address.isEmpty else { return nil }
        if isURL(address) { return .url(encoded(address)) }
        if namesLocalFiles, !address.lowercased().hasPrefix("http"), !address.contains(where: isControl) {
            return .file(address)
        }
        return .other(address)
    }

    /// Whether the address is an http or https URL with a host and without control characters; unencoded spaces after
    /// the host are allowed.
    private static func isURL(_ address: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { hasScheme(address, scheme: $0) }) else {
            return false
        }
        let rest = address.dropFirst(scheme.count)
        let host = rest.prefix { !"/?#".contains($0) }
        return !host.isEmpty && !host.contains { $0.isWhitespace } && !rest.contains(where: isControl)
    }

    private static func hasScheme(_ address: String, scheme: String) -> Bool {
        address.prefix(scheme.count).lowercased() == scheme
    }

    private static func isControl(_ character: Character) -> Bool {
        character.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// Whether iOS before 17 can parse the URL.
    package static func isWellFormed(_ text: String) -> Bool {
        PrintableText.trimmed(text).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !invalidURLBytes.contains($0) }
    }

    /// Percent-encodes spaces, non-ASCII and other invalid characters after the host.
    package static func encoded(_ address: String) -> String {
        guard !isWellFormed(address), let start = address.range(ofFirst: "://")?.upperBound else { return address }
        let path = address[start...].firstIndex { "/?#".contains($0) } ?? address.endIndex
        let digits = Array("0123456789ABCDEF")
        let rest = address[path...].utf8.map { byte -> String in
            byte > 0x20 && byte < 0x7F && !invalidURLBytes.contains(byte)
                ? String(Unicode.Scalar(byte)) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }.joined()
        return address[..<path] + rest
    }

    /// ASCII characters that RFC 3986 does not allow, except brackets and percent signs, which many URLs contain.
    private static let invalidURLBytes = Set("\"<>\\^`{|}".utf8)
}
