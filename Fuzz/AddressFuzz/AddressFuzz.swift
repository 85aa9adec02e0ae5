import Curl
import FuzzSupport
import RichPush

@testable import AttachPrep

/// Fuzzes hostile URLs, redirect targets and IP addresses in all spellings.
@main enum AddressFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            switch input.byte() % 4 {
            case 0: checkURL(input.lines())
            case 1: checkSecret(&input)
            case 2: checkAddress(&input)
            default: checkText(input.text())
            }
        }
    }

    // MARK: URLs

    private static func checkURL(_ lines: [String]) {
        guard let text = lines.first, let address = try? WebAddress(text) else { return }
        check(address)
        let strict = try? WebAddress(text, httpsOnly: true)
        Invariant.hold(strict == nil || strict?.text.hasPrefix("https://") == true, "httpsOnly accepts https only")
        for location in lines.dropFirst() {
            if let next = try? address.following(location) { check(next) }
            if let next = try? strict?.following(location) {
                Invariant.hold(next.text.hasPrefix("https://"), "httpsOnly applies to redirects")
            }
        }
    }

    private static func check(_ address: WebAddress) {
        Invariant.hold(
            address.text.hasPrefix("http://") || address.text.hasPrefix("https://"), "only http and https are fetched")
        Invariant.hold(!address.host.isEmpty && (1...65_535).contains(address.port), "there is a host and a port")
        Invariant.hold(address.text.utf8.count <= Limits.urlBytesMax * 4, "an address is bounded")
        Invariant.hold(!address.text.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "curl gets plain characters")
        guard let again = try? WebAddress(address.text) else {
            // Encoding makes an address longer, perhaps over the limit.
            return Invariant.hold(
                address.text.utf8.count > Limits.urlBytesMax, "an address reads back: \(address.text)")
        }
        Invariant.hold(again.host == address.host && again.port == address.port, "an address reads back the same")
        Invariant.hold(again.origin == address.origin && again.text == address.text, "and stays the same")
    }

    // MARK: Secrets

    /// Inserts a secret where URLs contain secrets, with fuzzed bytes around it.
    private static func checkSecret(_ input: inout FuzzInput) {
        let secret = "Zq7Secret9"
        let place = input.byte() % 4
        let parts = input.lines()
        guard parts.count >= 2, !(parts[0] + parts[1]).contains("Secret") else { return }
        let (before, behind) = (parts[0], parts[1])
        let key = ["sig", "TOKEN", "Signature", "%6bey", "x-amz-security-token", "k%65y"][Int(place) % 6]
        let text =
            switch place {
            case 0: "https://user:\(secret)@\(before.filter(\.isLetter))host/\(behind)"
            case 1: "https://host/\(before.filter { $0 != "#" })?\(key)=\(secret)\(behind.isEmpty ? "" : "&\(behind)")"
            case 2: "https://host/a?\(behind)&\(key)=\(secret)"
            default: "https://\(secret)@host/\(before)"
            }
        Invariant.hold(!RedactedURL.redact(text).contains("Secret"), "no secret is shown: \(RedactedURL.redact(text))")
    }

    private static func checkText(_ text: String) {
        let shown = RedactedURL.redact(text)
        Invariant.hold(RedactedURL.redact(shown) == shown, "what is redacted stays: \(text) \(shown)")
        guard let url = try? CurlURL(parsing: text), let credentials = url.credentials else { return }
        for secret in [credentials.user, credentials.password]
        where secret.utf8.count >= 6 && !url.text.contains(secret) {
            // The same characters may also be in the path, where they are not secret.
            let count = shown.ranges(of: secret).count
            Invariant.hold(
                count == 0 || count < text.ranges(of: secret).count,
                "user info that curl finds is not shown: \(text) \(shown)")
        }
    }

    // MARK: IP addresses

    private static func checkAddress(_ input: inout FuzzInput) {
        let number = (0..<4).reduce(UInt32(0)) { number, _ in number << 8 | UInt32(input.byte()) }
        let (high, low) = (
            (0..<12).reduce(UInt128(0)) { number, _ in number << 8 | UInt128(input.byte()) }, UInt128(number)
        )
        for address in [IPAddress.v4(number), .v6(high << 32 | low)] {
            Invariant.hold(IPAddress(address.description) == address, "an address written again reads the same")
            let literal = try? WebAddress("http://\(address.bracketed)/")
            Invariant.hold(literal?.literal == address, "a literal host is that address")
        }
        if let address = IPAddress(input.text()) {
            Invariant.hold(IPAddress(address.description) == address, "an address written again reads the same")
        }
        guard BlockedAddressRanges.blockedRange(for: .v4(number)) != nil else { return }
        checkForms(of: number)
    }

    /// A blocked IPv4 address must be blocked in every IPv6 form that embeds it, and in every spelling.
    private static func checkForms(of number: UInt32) {
        let low = UInt128(number)
        let carriers: [(String, UInt128)] = [
            ("mapped", 0xffff << 32 | low), ("compatible", low), ("translated", 0xffff << 48 | low),
            ("NAT64", 0x0064_ff9b << 96 | low), ("6to4", 0x2002 << 112 | low << 80),
            ("ISATAP", 0x2a00 << 112 | 0x5efe << 32 | low), ("ISATAP", 0x2a00 << 112 | 0x0200_5efe << 32 | low),
            ("Teredo", 0x2001 << 112 | (low ^ 0xffff_ffff)),
        ]
        for (form, carrier) in carriers {
            Invariant.hold(
                BlockedAddressRanges.blockedRange(for: .v6(carrier)) != nil,
                "refused as \(form): \(IPAddress.v6(carrier))")
        }
        let spellings = ["\(number)", "0x\(String(number, radix: 16))", "0\(String(number, radix: 8))"]
        for spelling in spellings {
            guard let address = try? WebAddress("http://\(spelling)/") else { continue }
            Invariant.hold(address.literal == .v4(number), "\(spelling) is read as the address it is")
        }
    }
}
