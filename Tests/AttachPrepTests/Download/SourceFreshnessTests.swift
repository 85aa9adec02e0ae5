import Foundation
import MediaTypes
import SafeArithmetic
import Testing

@testable import AttachPrep

/// How long a response is fresh and how it can be revalidated, by its header fields.
struct SourceFreshnessTests {
    /// Sunday, 6 November 1994, 08:49:37 UTC.
    private static let requestTime = Date(timeIntervalSince1970: 784_111_777)
    private static let now = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let later = "Sun, 06 Nov 1994 08:59:37 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:39:37 GMT"

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let fields: [(String, String)]
        /// Seconds; nil for never.
        let fresh: Double?

        init(_ fresh: Double?, _ fields: (String, String)...) {
            testDescription = fields.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
            self.fields = fields
            self.fresh = fresh
        }
    }

    private func freshness(_ fields: [(String, String)]) throws -> SourceFreshness {
        let head = ResponseHead(status: 200, fields.map { (name: $0.0, value: $0.1) })
        return SourceFreshness(head, requestedAt: Self.requestTime, by: try WebAddress("https://cdn.example/cat"))
    }

    @Test(arguments: [
        Row(nil), Row(60, ("cache-control", "max-age=60")), Row(60, ("cache-control", "public, MAX-AGE=\"60\"")),
        Row(nil, ("cache-control", "max-age=0")), Row(nil, ("cache-control", "max-age=-5")),
        Row(nil, ("cache-control", "max-age=1e3")), Row(nil, ("cache-control", "max-age")),
        Row(nil, ("cache-control", "max-age=60, max-age=600")), Row(60, ("cache-control", "max-age=60, max-age=60")),
        Row(600, ("cache-control", "max-age=60"), ("cache-control", "s-maxage=600")),
        Row(60, ("cache-control", "max-age=600, s-maxage=60")), Row(nil, ("cache-control", "s-maxage=0, max-age=60")),
        Row(nil, ("cache-control", "no-store, max-age=60")), Row(nil, ("cache-control", "no-cache, max-age=60")),
        Row(nil, ("cache-control", "private, max-age=60")), Row(nil, ("cache-control", "max-age=60"), ("vary", "*")),
        Row(60, ("cache-control", "max-age=60"), ("vary", "accept")),
        Row(60, ("cache-control", "x=\"a, no-store\", max-age=60")),
        Row(31_536_000, ("cache-control", "max-age=99999999999999999999")),
        Row(31_536_000, ("cache-control", "max-age=63072000, immutable")),
        Row(50, ("cache-control", "max-age=60"), ("age", "10")),
        Row(nil, ("cache-control", "max-age=60"), ("age", "60")),
        Row(60, ("cache-control", "max-age=60"), ("age", "-10")),
        Row(60, ("cache-control", "max-age=60"), ("age", "nan")),
        Row(3_000, ("cache-control", "max-age=3600"), ("date", earlier)),
        Row(3_600, ("cache-control", "max-age=3600"), ("date", later)),
        Row(600, ("expires", later)), Row(600, ("expires", later), ("date", now)), Row(nil, ("expires", earlier)),
        Row(nil, ("expires", "0")), Row(nil, ("expires", later), ("expires", now)),
        Row(60, ("expires", later), ("cache-control", "max-age=60")),
        Row(nil, ("expires", later), ("cache-control", "max-age=0")),
        Row(600, ("expires", "Sunday, 06-Nov-94 08:59:37 GMT")), Row(600, ("expires", "Sun Nov  6 08:59:37 1994")),
    ]) func `A response is fresh for as long as its headers declare, never by heuristics`(row: Row) throws {
        let until = try freshness(row.fields).freshUntil
        #expect(until?.timeIntervalSince(Self.requestTime) == row.fresh)
    }

    @Test func `Validators are kept as received, with the address that sent them`() throws {
        let validators = try freshness([("etag", "W/\"a b\""), ("etag", "W/\"a\"")]).validators
        #expect(validators == nil)
        let both = try #require(try freshness([("etag", "W/\"a\""), ("last-modified", Self.earlier)]).validators)
        #expect(both.entityTag == "W/\"a\"")
        #expect(both.lastModified == Self.earlier)
        #expect(both.address == (try WebAddress("https://cdn.example/cat")).digest)
        #expect(both.address != (try WebAddress("https://cdn.example/dog")).digest)
    }

    @Test(arguments: [
        "*", "\"a\", \"b\"", "abc", "\"", "\"a\r\nX: b\"", "\"\(String(repeating: "a", count: 600))\"", "",
    ])
    func `An ambiguous or invalid ETag is not kept`(tag: String) throws {
        #expect(try freshness([("etag", tag)]).validators == nil)
    }

    @Test func `A file modified in the second of the response has no date validator`() throws {
        #expect(try freshness([("last-modified", Self.now), ("date", Self.now)]).validators == nil)
        #expect(try freshness([("last-modified", Self.earlier), ("date", Self.now)]).validators != nil)
        #expect(try freshness([("last-modified", "yesterday")]).validators == nil)
        // It would be sent back as received.
        #expect(try freshness([("last-modified", "S\u{0}n, 06 Nov 1994 08:39:37 GMT")]).validators == nil)
    }

    @Test(arguments: ["no-cache", "private", "max-age=0"])
    func `A response that is not fresh can be revalidated`(directive: String) throws {
        #expect(try freshness([("cache-control", directive), ("etag", "\"a\"")]).validators?.entityTag == "\"a\"")
    }

    @Test func `A response with no-store is not revalidated`() throws {
        let fields = [("cache-control", "no-store"), ("etag", "\"a\""), ("expires", Self.later)]
        #expect(try freshness(fields) == SourceFreshness())
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
    ]) func `Dates are parsed to the second`(text: String, seconds: Double) {
        #expect(HTTPDate.date(ForeignText(text))?.timeIntervalSince1970 == seconds)
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
    ]) func `Invalid dates are not parsed`(text: String) {
        #expect(HTTPDate.date(ForeignText(text)) == nil)
    }
}
