internal import RichPush

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What an answer says of how long it holds (RFC 9111): pure.
///
/// - What is kept is kept under everything that the request said, its headers and credentials included; so an answer
///   for one user alone (`private`) is never given to another one. All the same it is asked about each time, since
///   whoever serves it did not mean it for a cache that several share. An `Authorization` changes nothing else.
/// - No lifetime is guessed: an answer that names none is asked about each time.
extension SourceFreshness {
    /// - Parameters:
    ///   - date: when it was asked for: it is no older than that.
    ///   - address: the hop that answered.
    init(_ head: ResponseHead, askedAt date: Date, by address: WebAddress) {
        let directives = CacheDirectives(head.values("cache-control"))
        self.init()
        guard !directives.has("no-store") else { return }
        validators = SourceValidators(head, of: address)
        let isShared = !directives.has("no-cache") && !directives.has("private")
        // With "Vary: *" something that we do not see may change the answer.
        guard isShared, !head.values("vary").contains(where: { $0.contains("*") }) else { return }
        let asked = date.timeIntervalSince1970
        let lifetime = min(Self.lifetime(head, directives, asked: asked), Limits.freshSecondsMax)
        // Bounded: floating-point numbers.
        let rest = lifetime - Self.age(head, asked: asked)
        if rest > 0 { freshUntil = date.addingTimeInterval(rest) }
    }

    /// Seconds: a shared cache's own word first, then everybody's, then `Expires`.
    private static func lifetime(_ head: ResponseHead, _ directives: CacheDirectives, asked: Double) -> Double {
        // Bounded: not a span: the number of a directive.
        if let seconds = directives.seconds("s-maxage") ?? directives.seconds("max-age") { return Double(seconds) }
        let expiries = Set(head.values("expires"))
        guard expiries.count == 1, let expiry = expiries.first.flatMap(HTTPDate.date) else { return 0 }
        // Bounded: floating-point numbers.
        return expiry.timeIntervalSince1970 - (head.date ?? asked)
    }

    /// Seconds that it lay in caches on its way; a server whose clock is behind makes it older, never younger.
    private static func age(_ head: ResponseHead, asked: Double) -> Double {
        let told = head["age"].flatMap { Double($0) } ?? 0
        // Bounded: floating-point numbers.
        let apparent = head.date.map { asked - $0 } ?? 0
        return max(0, told.isFinite ? told : 0, apparent)
    }

    /// After "not modified": what it does not say anew holds on; a lifetime that it does not name is over.
    func renewing(_ old: SourceValidators, isStored: Bool) -> SourceFreshness {
        guard isStored else { return SourceFreshness() }
        var freshness = self
        freshness.validators = SourceValidators(
            entityTag: validators?.entityTag ?? old.entityTag,
            lastModified: validators?.lastModified ?? old.lastModified)
        freshness.validators?.address = old.address ?? validators?.address
        return freshness
    }

    /// Fresh for as long as the way to it is, too: each redirect's own word counts.
    func limited(to date: Date?) -> SourceFreshness {
        var freshness = self
        freshness.freshUntil = date.flatMap { limit in freshUntil.map { min($0, limit) } }
        return freshness
    }
}

extension SourceValidators {
    /// Nil when the answer has none that could be sent back.
    init?(_ head: ResponseHead, of address: WebAddress) {
        self.init(entityTag: Self.entityTag(head), lastModified: Self.lastModified(head))
        guard entityTag != nil || lastModified != nil else { return nil }
        self.address = address.digest
    }

    /// One tag in quotes, weak or strong: `*` and lists would match what was never seen.
    private static func entityTag(_ head: ResponseHead) -> String? {
        let tags = Set(head.values("etag"))
        guard tags.count == 1, let tag = tags.first, tag.utf8.count <= Limits.validatorBytesMax else { return nil }
        let quoted = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]
        guard quoted.utf8.count >= 2, quoted.hasPrefix("\""), quoted.hasSuffix("\""),
            quoted.dropFirst().dropLast().utf8.allSatisfy({ $0 > 0x20 && $0 != 0x22 && $0 != 0x7f })
        else { return nil }
        return tag
    }

    /// A date; one of the same second as the answer is none, since the file may change again within it.
    private static func lastModified(_ head: ResponseHead) -> String? {
        let dates = Set(head.values("last-modified"))
        guard dates.count == 1, let text = dates.first, ResumePoint.isSentBack(text),
            let date = HTTPDate.date(text)
        else { return nil }
        if let answered = head.date, date.timeIntervalSince1970 >= answered { return nil }
        return text
    }

    /// Whether "not modified" speaks of another version than this one.
    func contradicts(_ head: ResponseHead) -> Bool {
        if let tag = head["etag"], let entityTag { return Self.opaque(tag) != Self.opaque(entityTag) }
        if let date = head["last-modified"], let lastModified { return date != lastModified }
        return false
    }

    /// Weak comparison (RFC 9110, 8.8.3.2).
    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}

extension ResponseHead {
    /// Seconds since 1970.
    fileprivate var date: Double? { self["date"].flatMap(HTTPDate.date)?.timeIntervalSince1970 }
}
