import NIOHTTP1
import RichPush

/// What RFC 9112 asks of a request's `Host`: two of them are a way to show one to a proxy and another one to us.
enum HostRule {
    /// Why a request is refused; nil when it may pass.
    static func objection(to head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["host"]
        if hosts.count > 1 { return Problem(.requestInvalid, "The request has \(hosts.count) Host fields; send one.") }
        guard let host = hosts.first else {
            let isOld = (head.version.major, head.version.minor) < (1, 1)
            return isOld ? nil : Problem(.requestInvalid, "The request has no Host field, which HTTP/1.1 requires.")
        }
        return isValid(host) ? nil : Problem(.requestInvalid, "The request's Host is no host and port; send one.")
    }

    /// `uri-host [ ":" port ]` (RFC 3986, 3.2.2), and not empty.
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

    /// Letters, digits, and the marks that a name may have.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~%!$&'()*+,;=".utf8.contains(byte)
        }
    }
}
