internal import FoundationEssentials
package import MediaTypes
internal import SafeArithmetic

/// The freshness of a response as a shared cache computes it (RFC 9111). Pure.
///
/// - Stored results are keyed by the whole request including headers and credentials, so a `private` response is never
///   used for another user. It is still revalidated each time, because it is not meant for shared caches.
///   `Authorization` has no other effect.
/// - There is no heuristic lifetime: a response that declares none is revalidated each time.
extension SourceFreshness {
    /// - Parameters:
    ///   - date: When the request was sent; the response is not older.
    ///   - address: The URL of the hop that responded.
    init(_ head: ResponseHead, requestedAt date: Date, by address: WebAddress) {
        let directives = CacheDirectives(head.values("cache-control"))
        self.init()
        guard !directives.has("no-store") else { return }
        validators = SourceValidators(head, of: address)
        let isShared = !directives.has("no-cache") && !directives.has("private")
        // With "Vary: *", the response may depend on anything, not only on the request.
        guard isShared, !head.values("vary").contains(where: { $0.contains(UInt8(ascii: "*")) }) else { return }
        let requestedAt = date.timeIntervalSince1970
        let lifetime = min(
            Self.lifetime(head, directives: directives, requestedAt: requestedAt), Limits.freshSecondsMax)
        let rest = lifetime - Self.age(head, requestedAt: requestedAt)
        if rest > 0 { freshUntil = date.addingTimeInterval(rest) }
    }

    /// Lifetime in seconds: `s-maxage`, else `max-age`, else `Expires`.
    private static func lifetime(_ head: ResponseHead, directives: CacheDirectives, requestedAt: Double) -> Double {
        if let seconds = directives.seconds("s-maxage") ?? directives.seconds("max-age") { return Double(seconds) }
        let expiries = Set(head.values("expires"))
        guard expiries.count == 1, let expiry = expiries.first.flatMap(HTTPDate.date) else { return 0 }
        return expiry.timeIntervalSince1970 - (head.date ?? requestedAt)
    }

    /// Age in seconds: the larger of `Age` and the difference to `Date`, so clock skew can only increase it.
    private static func age(_ head: ResponseHead, requestedAt: Double) -> Double {
        let declared = head["age"].flatMap { Double($0.string) } ?? 0
        let apparent = head.date.map { requestedAt - $0 } ?? 0
        return max(0, declared.isFinite ? declared : 0, apparent)
    }

    /// The freshness after a 304: validators missing in it are kept from `old`; the lifetime is not.
    func renewing(_ old: SourceValidators, isStored: Bool) -> SourceFreshness {
        guard isStored else { return SourceFreshness() }
        var freshness = self
        freshness.validators = SourceValidators(
            entityTag: validators?.entityTag ?? old.entityTag,
            lastModified: validators?.lastModified ?? old.lastModified)
        freshness.validators?.address = old.address ?? validators?.address
        return freshness
    }

    /// Ends the freshness no later than that of the redirects that led to the file; `date` nil means not fresh.
    func limited(to date: Date?) -> SourceFreshness {
        var freshness = self
        freshness.freshUntil = date.flatMap { limit in freshUntil.map { min($0, limit) } }
        return freshness
    }
}

extension SourceValidators {
    /// Nil when the response has no usable validator.
    init?(_ head: ResponseHead, of address: WebAddress) {
        self.init(entityTag: Self.entityTag(head), lastModified: Self.lastModified(head))
        guard entityTag != nil || lastModified != nil else { return nil }
        self.address = address.digest
    }

    /// One quoted tag, weak or strong: sending back `*` or a list would match versions that were never fetched.
    private static func entityTag(_ head: ResponseHead) -> String? {
        let tags = Set(head.values("etag"))
        guard tags.count == 1, let tag = tags.first, tag.utf8.count <= Limits.validatorBytesMax else { return nil }
        let quoted = opaque(tag).utf8
        guard quoted.count >= 2, quoted.first == UInt8(ascii: "\""), quoted.last == UInt8(ascii: "\""),
            quoted.dropFirst().dropLast().allSatisfy({ $0 > 0x20 && $0 != 0x22 && $0 != 0x7f })
        else { return nil }
        return tag.string
    }

    /// The `Last-Modified` date; nil unless older than `Date`, since the file may change again in the same second.
    private static func lastModified(_ head: ResponseHead) -> String? {
        let dates = Set(head.values("last-modified"))
        guard dates.count == 1, let text = dates.first, ResumePoint.isValidHeaderValue(text.string),
            let date = HTTPDate.date(text)
        else { return nil }
        if let answered = head.date, date.timeIntervalSince1970 >= answered { return nil }
        return text.string
    }

    /// Whether a 304 names another version than these validators.
    func contradicts(_ head: ResponseHead) -> Bool {
        if let tag = head["etag"], let entityTag { return Self.opaque(tag) != Self.opaque(ForeignText(entityTag)) }
        if let date = head["last-modified"], let lastModified { return date != ForeignText(lastModified) }
        return false
    }

    /// Weak comparison (RFC 9110, 8.8.3.2).
    private static func opaque(_ tag: ForeignText) -> ForeignText { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
}

extension ResponseHead {
    /// Seconds since 1970.
    var date: Double? { self["date"].flatMap(HTTPDate.date)?.timeIntervalSince1970 }
}

/// The server confirmed that the file has not changed since it was fetched; nothing was downloaded.
package struct UnchangedSourceError: Error, Sendable, Hashable {
    package var freshness: SourceFreshness
    package var timings: DownloadTimings
}

/// The directives of a response's `Cache-Control` by name, in lowercase (RFC 9111, 5.2.2).
struct CacheDirectives: Sendable, Hashable {
    private let values: [ForeignText: [ForeignText]]

    /// - Parameter lines: The values of all `Cache-Control` fields.
    init(_ lines: [ForeignText]) {
        var values: [ForeignText: [ForeignText]] = [:]
        for directive in lines.flatMap(Self.directives) {
            let parts = directive.split(at: UInt8(ascii: "="), maxSplits: 1).map(\.trimmed)
            guard let name = parts.first?.lowercased, !name.isEmpty else { continue }
            let value = parts.dropFirst().first?.utf8.filter { $0 != UInt8(ascii: "\"") } ?? []
            values[name, default: []].append(ForeignText(value))
        }
        self.values = values
    }

    /// Whether a directive is present, with or without a value.
    func has(_ name: ForeignText) -> Bool { values[name] != nil }

    /// The seconds of a directive; nil when it is absent, 0 when invalid or contradictory (RFC 9111, 4.2.1).
    func seconds(_ name: ForeignText) -> Int? {
        guard let written = values[name] else { return nil }
        guard Set(written).count == 1 else { return 0 }
        return written.first?.number ?? 0
    }

    /// Splits at commas outside quotes.
    private static func directives(of line: ForeignText) -> [ForeignText] {
        var isQuoted = false
        return line.utf8.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }.map { ForeignText(Substring($0)) }
    }
}

extension Limits {
    /// ETags have some 40 bytes; a longer one is not sent back.
    static let validatorBytesMax = 512
    /// The longest time a fetched source is considered fresh, whatever its server declares: a year (RFC 9111).
    package static let freshSecondsMax = 365.0 * 24 * 3600
}
