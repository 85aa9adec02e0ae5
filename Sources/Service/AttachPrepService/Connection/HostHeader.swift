import AttachPrep
import AttachPrepModel
import MediaTypes
import NIOHTTP1
import SafeArithmetic

/// Validates the text of a request's head, before anything compares it: routing, header fields and queries are
/// `String`s, whose comparison is slow when they have long runs of combining marks.
enum RequestText {
    /// The problem for such a text; nil if there is none.
    static func problemResponse(to head: HTTPRequestHead) -> Problem? {
        guard head.uri.utf8.allSatisfy({ 0x20 < $0 && $0 < 0x7F }),
            CombiningMarks.areBounded(in: PercentEncoding.decodedLeniently(head.uri))
        else { return Problem(.requestInvalid, "The request's target is not a valid URL; percent-encode its text.") }
        guard head.headers.allSatisfy({ CombiningMarks.areBounded(in: $0.value) }) else {
            return Problem(
                .requestInvalid,
                "A header has more than \(CombiningMarks.runMax) combining marks on one character; remove them.")
        }
        return nil
    }
}

/// Validates a request's `Host` (RFC 9112, 3.2): a proxy and this service could interpret repeated fields differently.
enum HostHeader {
    /// The problem for an invalid `Host`; nil if it is valid.
    static func problemResponse(to head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["host"]
        if hosts.count > 1 { return Problem(.requestInvalid, "\(hosts.count) Host headers in the request; send one.") }
        guard let host = hosts.first else {
            let isOld = (head.version.major, head.version.minor) < (1, 1)
            return isOld ? nil : Problem(.requestInvalid, "The request has no Host header, which HTTP/1.1 requires.")
        }
        return isValid(host) ? nil : Problem(.requestInvalid, "The Host header is invalid; send host or host:port.")
    }

    /// Whether a value is `uri-host [ ":" port ]` (RFC 3986, 3.2.2) and not empty.
    static func isValid(_ host: String) -> Bool {
        var rest = Substring(host).utf8
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = rest[..<end].dropFirst()
            guard !address.isEmpty, address.allSatisfy({ isHexadecimal($0) || [46, 58].contains($0) }) else {
                return false
            }
            rest = rest[end...].dropFirst()
        } else {
            let name = rest.prefix { $0 != UInt8(ascii: ":") }
            guard !name.isEmpty, name.allSatisfy(isOfName) else { return false }
            rest = rest[name.endIndex...]
        }
        if rest.isEmpty { return true }
        return rest.first == UInt8(ascii: ":") && rest.count <= 6
            && rest.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Unicode.Scalar(byte).properties.isASCIIHexDigit
    }

    /// Whether a byte is allowed in a `reg-name`: unreserved, percent or sub-delims.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}
