internal import SafeArithmetic

/// Removes secrets from a URL for display in messages, manifests, logs and the API.
///
/// User info is removed, and secret query values (`SecretQuery`) become `REDACTED`. It works on the unparsed text, so
/// that an invalid URL is redacted too, and on Unicode scalars instead of characters: Swift combines an `@` and a
/// following accent into one character, URL parsers do not.
public enum RedactedURL {
    private typealias Scalars = Substring.UnicodeScalarView

    /// The URL without its secrets.
    public static func redact(_ text: String) -> String {
        redact(text, depth: 0)
    }

    private static func redact(_ text: String, depth: Int) -> String {
        var shown = text
        var bytes = Int.max
        // The rest may look like user info again; each round shortens the text, so the loop ends.
        while shown.utf8.count < bytes {
            bytes = shown.utf8.count
            shown = withoutUserInfo(shown[...].unicodeScalars)
        }
        let (head, tail) = split(shown[...].unicodeScalars, at: ["?", "#"])
        return "\(String(head))\(redactPairs(tail, depth: depth))"
    }

    /// The redacted URL for use in a message: cut, control characters percent-encoded.
    static func excerpt(_ text: String) -> String {
        MessageText.excerpt(redact(text)) { scalar in
            String(scalar).utf8.map { "%" + [$0].hexadecimal.uppercased() }.joined()
        }
    }

    private static func withoutUserInfo(_ text: Scalars) -> String {
        guard let colon = text.firstIndex(of: ":") else { return String(text) }
        let start = text[colon...].dropFirst().drop { $0 == "/" || $0 == "\\" }.startIndex
        guard start > text.index(after: colon), let at = endOfUserInfo(text[start...]) else {
            return String(text)
        }
        // Appending to a part of a string would move its rest for each character.
        return "\(String(text[..<start]))\(String(text[text.index(after: at)...]))"
    }

    private static func endOfUserInfo(_ rest: Scalars) -> Scalars.Index? {
        let authority = rest.prefix { !["/", "?", "#"].contains($0) }
        if let at = authority.lastIndex(of: "@") { return at }
        // "user:pass/word@host" is not a valid URL, but its secret must be removed too.
        let behindAddress = authority.first == "[" ? authority.drop { $0 != "]" } : authority
        guard let colon = behindAddress.firstIndex(of: ":") else { return nil }
        let port = behindAddress[colon...].dropFirst()
        return port.allSatisfy { ("0"..."9").contains($0) } ? nil : rest.lastIndex(of: "@")
    }

    /// A key-value pair of a query or fragment, and the separator before it.
    private struct Pair {
        let separator: Unicode.Scalar
        let text: Scalars
        /// Percent-decoded; nil for a pair without a value.
        let key: String?
        let isSecret: Bool
    }

    /// Redacts "?a=b&c=d#e=f".
    private static func redactPairs(_ tail: Scalars, depth: Int) -> String {
        var pairs: [Pair] = []
        var rest = tail
        while let separator = rest.first {
            let (text, further) = split(rest.dropFirst(), at: ["&", ";", "?", "#"])
            pairs.append(pair(text, after: separator, depth: depth))
            rest = further
        }
        let isSigned = pairs.contains(where: \.isSecret)
        var shown = ""
        for pair in pairs {
            shown.unicodeScalars.append(pair.separator)
            let isHidden = pair.isSecret || (isSigned && pair.key.map(SecretQuery.isSignatureCompanion(key:)) == true)
            shown += isHidden ? redacted(pair.text) : String(pair.text)
        }
        return shown
    }

    private static func pair(_ text: Scalars, after separator: Unicode.Scalar, depth: Int) -> Pair {
        guard let equals = text.firstIndex(of: "=") else {
            return Pair(
                separator: separator, text: text, key: nil,
                isSecret: SecretQuery.looksRandom(PercentEncoding.decodedLeniently(String(text))))
        }
        // Decoded, so that "%73ig" is recognized as "sig".
        let key = PercentEncoding.decodedLeniently(String(text[..<equals]))
        let value = PercentEncoding.decodedLeniently(String(text[equals...].dropFirst()))
        let isSecret = SecretQuery.isSecret(key: key) || isSecret(value, depth: depth)
        return Pair(separator: separator, text: text, key: key, isSecret: isSecret && !value.isEmpty)
    }

    /// Whether a value looks random, or is a URL that contains a secret.
    private static func isSecret(_ value: String, depth: Int) -> Bool {
        if SecretQuery.looksRandom(value) { return true }
        guard depth < nestedMax, value.contains("://") || value.contains("=") else { return false }
        return ForeignText(redact(value, depth: depth + 1)) != ForeignText(value)
    }

    /// Levels of nested URLs that are checked, as in the query of an image proxy.
    private static let nestedMax = 2

    private static func redacted(_ pair: Scalars) -> String {
        guard let equals = pair.firstIndex(of: "=") else { return "REDACTED" }
        return String(pair[...equals]) + "REDACTED"
    }

    private static func split(_ text: Scalars, at separators: Set<Unicode.Scalar>) -> (Scalars, Scalars) {
        let index = text.firstIndex { separators.contains($0) } ?? text.endIndex
        return (text[..<index], text[index...])
    }
}

/// Recognizes query values that are secrets, such as signatures, keys and tokens.
///
/// A value is a secret by the name of its key, or because it looks random: long random text is a key, a signature or a
/// token, whatever its name. A false positive hides a digest in a manifest; a false negative may expose a bucket.
enum SecretQuery {
    /// Whether a key names a secret, in any case and spelling (`api_key`, `API-Key`, `apiKey`).
    static func isSecret(key: String) -> Bool {
        let lower = lowercasedASCII(key)
        if signedPrefixes.contains(where: lower.hasPrefix) { return true }
        let plain = String(lower.unicodeScalars.filter { !["-", "_", ".", "[", "]", " ", "+"].contains($0) })
        return names.contains(plain) || parts.contains { hasBytes(of: $0, in: plain) }
    }

    /// Whether a text contains another, byte by byte. `String.contains` prepares a table for each search, which took
    /// four fifths of the time of redacting a URL.
    private static func hasBytes(of part: String, in text: String) -> Bool {
        text.utf8.indices.contains { text.utf8[$0...].starts(with: part.utf8) }
    }

    /// Whether a key is part of a signature without being secret itself; its value is redacted beside a secret.
    static func isSignatureCompanion(key: String) -> Bool {
        companions.contains(lowercasedASCII(key))
    }

    /// Only the ASCII characters, as all names are ASCII: comparing any others could take quadratic time.
    private static func lowercasedASCII(_ key: String) -> String {
        String(decoding: ForeignText(key).lowercased.utf8.filter { $0 < 0x80 }, as: UTF8.self)
    }

    /// Whether a part of a value, between punctuation, looks random.
    static func looksRandom(_ value: String) -> Bool {
        guard value.utf8.count >= randomBytesMin else { return false }
        let runs = value.utf8.split { !isAlphanumeric($0) && !base64Marks.contains($0) }
        return runs.contains { isRandom(Array($0)) }
    }

    /// Signed URLs of Amazon S3, Google Cloud Storage, Alibaba OSS, Tencent COS, Volcengine TOS and Baidu BOS.
    private static let signedPrefixes = [
        "x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-tos-", "x-bce-", "x-ms-", "q-sign-",
    ]

    /// Substrings of a key without punctuation.
    private static let parts = [
        "token", "secret", "signature", "password", "passwd", "passphrase", "credential", "apikey", "accesskey",
        "privatekey", "secretkey", "sessionid", "bearer", "hmac",
    ]

    /// Whole keys without punctuation: CloudFront, Azure SAS, Google, Alibaba, Akamai, BunnyCDN and common names.
    private static let names: Set<String> = [
        "sig", "sign", "signed", "sgn", "key", "appkey", "authkey", "subscriptionkey", "policy", "keypairid", "expires",
        "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "auth", "authorization", "oauth", "jwt", "session", "sid",
        "phpsessid", "jsessionid", "pass", "pwd", "pw", "pin", "otp", "hash", "md5", "mac", "checksum", "ticket",
        "hdnts", "hdnea", "hdntl", "gda", "verify", "nonce", "user", "username", "login",
    ]

    /// The other keys of Azure shared access signatures, and the expiry times and permissions of other signatures.
    private static let companions: Set<String> = [
        "se", "sp", "sv", "sr", "st", "ss", "srt", "spr", "sip", "skoid", "sktid", "skt", "ske", "sks", "skv", "sdd",
        "e",
        "ex", "exp", "expiry", "expiration", "is", "iat", "nbf", "ttl", "ts", "timestamp", "t", "kid", "acl",
    ]

    // MARK: Random text

    /// The shortest random text: 20 letters and digits have 100 bits or more.
    private static let randomBytesMin = 20
    /// The shortest random hexadecimal number; an MD5 has 32 digits.
    private static let hexadecimalBytesMin = 24
    /// Base64 characters that are not alphanumeric, without the slash: it separates path components, and the text
    /// between two slashes is long enough to be recognized.
    private static let base64Marks: Set<UInt8> = [UInt8(ascii: "+"), UInt8(ascii: "=")]

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { kind(byte) != .other }

    private static func isRandom(_ run: [UInt8]) -> Bool {
        guard run.count >= randomBytesMin else { return false }
        let kinds = run.map(kind)
        // Digits only are a date, a phone number or an id; letters only are words.
        guard kinds.contains(.digit), kinds.contains(where: { $0 != .digit }) else { return false }
        let isHexadecimal = run.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
        if isHexadecimal, run.count >= hexadecimalBytesMin { return true }
        return isMixed(kinds)
    }

    /// Whether uppercase, lowercase and digits alternate as often as in random text: at 38 % of the positions with both
    /// cases, 26 % with one.
    private static func isMixed(_ kinds: [Kind]) -> Bool {
        let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        let hasBothCases = kinds.contains(.capital) && kinds.contains(.small)
        return changes * 100 >= kinds.count * (hasBothCases ? 38 : 26)
    }

    private enum Kind {
        case digit, capital, small, other
    }

    private static func kind(_ byte: UInt8) -> Kind {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): .digit
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): .capital
        case UInt8(ascii: "a")...UInt8(ascii: "z"): .small
        default: .other
        }
    }
}
