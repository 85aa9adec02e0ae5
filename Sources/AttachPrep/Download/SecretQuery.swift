/// Which values of an address's query are secrets: whoever has them can fetch what the address leads to, or more.
///
/// A value is one by the name of its key, or by its look: a long random text is a key, a signature or a token, whatever
/// it is called. What is hidden by mistake is a digest in a manifest; what is shown by mistake is an open bucket.
enum SecretQuery {
    /// Whether a key is one of those that carry secrets, in any case and spelling (`api_key`, `API-Key`, `apiKey`).
    static func isSecret(key: String) -> Bool {
        let lower = key.lowercased()
        if signedPrefixes.contains(where: lower.hasPrefix) { return true }
        let plain = String(lower.unicodeScalars.filter { !["-", "_", ".", "[", "]", " ", "+"].contains($0) })
        return names.contains(plain) || parts.contains(where: plain.contains)
    }

    /// Whether a key belongs to a signature without being a secret by its name: hidden beside a value that is one.
    static func goesAlong(key: String) -> Bool {
        companions.contains(key.lowercased())
    }

    /// Whether a value looks random: a part of it, between marks that words are joined with, that nobody has written.
    static func looksRandom(_ value: String) -> Bool {
        guard value.utf8.count >= randomBytesMin else { return false }
        let runs = value.utf8.split { !isAlphanumeric($0) && !base64Marks.contains($0) }
        return runs.contains { isRandom(Array($0)) }
    }

    /// Signed addresses of Amazon S3, Google Cloud Storage, Alibaba OSS, Tencent COS, Volcengine TOS and Baidu BOS.
    private static let signedPrefixes = [
        "x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-tos-", "x-bce-", "x-ms-", "q-sign-",
    ]

    /// Wherever they stand in a key, without its marks.
    private static let parts = [
        "token", "secret", "signature", "password", "passwd", "passphrase", "credential", "apikey", "accesskey",
        "privatekey", "secretkey", "sessionid", "bearer", "hmac",
    ]

    /// Whole keys, without their marks: CloudFront, Azure SAS, Google, Alibaba, Akamai, BunnyCDN, and what people
    /// write.
    private static let names: Set<String> = [
        "sig", "sign", "signed", "sgn", "key", "appkey", "authkey", "subscriptionkey", "policy", "keypairid", "expires",
        "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "auth", "authorization", "oauth", "jwt", "session", "sid",
        "phpsessid", "jsessionid", "pass", "pwd", "pw", "pin", "otp", "hash", "md5", "mac", "checksum", "ticket",
        "hdnts", "hdnea", "hdntl", "gda", "verify", "nonce", "user", "username", "login",
    ]

    /// The rest of Azure's shared access signatures, and times and rights that others sign.
    private static let companions: Set<String> = [
        "se", "sp", "sv", "sr", "st", "ss", "srt", "spr", "sip", "skoid", "sktid", "skt", "ske", "sks", "skv", "sdd",
        "e",
        "ex", "exp", "expiry", "expiration", "is", "iat", "nbf", "ttl", "ts", "timestamp", "t", "kid", "acl",
    ]

    // MARK: Random text

    /// 20 letters and digits are 100 bits or more.
    private static let randomBytesMin = 20
    /// A hexadecimal number, such as half a SHA-256 or an MD5.
    private static let hexadecimalBytesMin = 24
    /// Not the slash of base64, which parts the words of a path: what is between two of them is long enough.
    private static let base64Marks: Set<UInt8> = [UInt8(ascii: "+"), UInt8(ascii: "=")]

    private static func isAlphanumeric(_ byte: UInt8) -> Bool { kind(byte) != .other }

    private static func isRandom(_ run: [UInt8]) -> Bool {
        guard run.count >= randomBytesMin else { return false }
        let kinds = run.map(kind)
        // A long number is a date, a phone or an id; letters alone are words.
        guard kinds.contains(.digit), kinds.contains(where: { $0 != .digit }) else { return false }
        let isHexadecimal = run.allSatisfy { Unicode.Scalar($0).properties.isASCIIHexDigit }
        if isHexadecimal, run.count >= hexadecimalBytesMin { return true }
        return isMixed(kinds)
    }

    /// Words change between capitals, small letters and digits every few letters; random text at most places.
    private static func isMixed(_ kinds: [Kind]) -> Bool {
        let changes = zip(kinds, kinds.dropFirst()).count { $0 != $1 }
        let hasBothCases = kinds.contains(.capital) && kinds.contains(.small)
        // Bounded: counts of what is in memory.
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
