public import FuzzSupport

/// Scripts a server from the bytes of one input: correct responses, false ones, and HTTP/2 frames.
///
/// Zero bytes give the behavior of a correct server, so that short inputs reach deep states; each other byte corrupts
/// something. Bodies are numbered versions of one file: each byte encodes its version and offset, so that a mixture of
/// versions is detected (`Content`).
public final class HostileScript {
    public var input: FuzzInput
    public var facts = Facts()
    /// The version that correct responses currently serve.
    public var version = Content.firstVersion
    private let port: UInt16
    /// The number of bytes that this input may still send, to limit its time.
    private var bytesLeft = 2_500_000
    private var lyingConnections: Set<Int> = []
    /// Of those, connections on which the server sent first: that may be a response without an end, whose body is all
    /// that follows.
    private var unaskedConnections: Set<Int> = []
    private var lastBodyBytes = 0
    private var greeted: Set<Int> = []

    /// What was sent, to check results against.
    public struct Facts: Sendable {
        /// Whether every response conformed to RFC 9110.
        public var isHonest = true
        /// Whether a body ended with its connection, and so may be truncated.
        public var hasOpenEnd = false
        /// Whether body bytes other than `Content` were sent.
        public var hasForeignBytes = false
        /// Offsets at which a response continued a file.
        public var joins: Set<Int> = []
        public var lengths: [UInt8: Int] = [:]
    }

    public init(_ input: FuzzInput, port: UInt16) {
        self.input = input
        self.port = port
    }

    /// The length of the current version, chosen by the input once per version.
    public func length(of version: UInt8) -> Int {
        if let length = facts.lengths[version] { return length }
        let length = Self.counts[Int(input.byte()) % Self.counts.count]
        facts.lengths[version] = length
        return length
    }

    public static let counts = [
        5_000, 0, 1, 100, 4_095, 4_096, 4_097, 16_383, 16_384, 16_385, 32_768, 65_535, 65_536, 65_537, 100_000,
        299_999, 300_000, 300_001, 1_000_001, 2, 3, 10, 70_000, 20_000,
    ]

    /// The steps that respond to an event.
    public func steps(for event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        if event.kind == .connected {
            // Only every sixteenth value sends without a request.
            guard !input.bytes.isEmpty, input.byte() == 0xF7 else { return [] }
            unaskedConnections.insert(event.connection)
            return lie(event)
        }
        if event.stream != 0 { return frames(for: event) }
        // After the end of the input, responses are correct.
        return switch input.byte() % 16 {
        case 0...5: honest(event)
        case 6: redirect(event)
        case 7: interim() + honest(event)
        case 8: busy(event)
        default: lie(event)
        }
    }

    // MARK: Numbers

    static let numbers = [
        "0", "1", "2", "4095", "4096", "4097", "16384", "16385", "65535", "65536", "65537", "299999", "300000",
        "300001", "999999", "1000001", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775806",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1",
        "-2147483648", "-9223372036854775808", "-9223372036854775809", "99999999999999999999999999", "+5", "0x10",
        "1e3", "1e400", "", " ", "5, 5", "5,6", "0000000000000000000000007", "NaN", "*", "1.5",
    ]

    /// A number as text: near the actual value, a boundary value, or any.
    public func number(near truth: Int) -> String {
        let choice = input.byte()
        switch choice {
        case 0...63: return "\(truth)"
        case 64...79: return "\(truth &+ 1)"
        case 80...95: return "\(truth &- 1)"
        case 96...111: return "\(Int(input.byte()) << 8 | Int(input.byte()))"
        default: return Self.numbers[Int(choice) % Self.numbers.count]
        }
    }

    private func take(_ count: Int) -> Int {
        let count = min(count, bytesLeft)
        bytesLeft -= count
        return count
    }

    public func count() -> Int {
        let choice = Int(input.byte())
        return take(choice < 128 ? Self.counts[choice % Self.counts.count] : Int(input.byte()) << 8 | choice)
    }

    // MARK: Correct responses

    /// The response of a correct server, on a connection that may break.
    private func honest(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        let choices = input.byte()
        if unaskedConnections.contains(event.connection) { facts.hasForeignBytes = true }
        if choices & 0x40 != 0, version < Content.lastVersion { version += 1 }
        let (version, total) = (version, length(of: version))
        let tag = "\"v\(version)\""
        let date = "Sat, 0\(version - 7) Jan 2000 00:00:00 GMT"
        let usesTag = choices & 0x20 == 0
        let naming = usesTag ? "ETag: \(tag)\r\n" : "Last-Modified: \(date)\r\n"
        if event.header("if-none-match") == tag {
            return reply("HTTP/1.1 304 Not Modified\r\n\(naming)\r\n", [], event, choices)
        }
        var (status, first, extra) = ("200 OK", 0, "")
        if let from = rangeStart(event), [nil, tag, date].contains(event.header("if-range")) {
            guard from < total else {
                let head = "HTTP/1.1 416 Range\r\nContent-Range: bytes */\(total)\r\nContent-Length: 0\r\n\r\n"
                return reply(head, [], event, choices)
            }
            (status, first) = ("206 Partial Content", from)
            extra = "Content-Range: bytes \(from)-\(total - 1)/\(total)\r\n"
            facts.joins.insert(from)
        }
        let count = take(total - first)
        // When the byte limit of the input is used up, the rest of the body is missing.
        if count < total - first { facts.isHonest = false }
        var body = Content.bytes(version, first..<(first + count))
        lastBodyBytes = body.count
        if choices & 0x10 != 0, extra.isEmpty {
            // After a head without a content coding, these bytes are content without a version.
            facts.hasForeignBytes = true
            body = Compressed.gzip(body)
            extra = "Content-Encoding: gzip\r\n"
        }
        let missing = total - first - count
        let head = "HTTP/1.1 \(status)\r\n\(naming)\(extra)"
        return switch choices & 3 {
        case 0, 1: reply(head + "Content-Length: \(body.count + missing)\r\n\r\n", body, event, choices)
        case 2: reply(head + "Transfer-Encoding: chunked\r\n\r\n", chunked(body, choices), event, choices)
        default: openEnd(head + "Connection: close\r\n\r\n", body, choices)
        }
    }

    private func rangeStart(_ event: ScriptedPeer.Event) -> Int? {
        guard let range = event.header("range"), range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }

    private func chunked(_ body: [UInt8], _ choices: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(10_000)
            rest = rest.dropFirst(10_000)
            bytes += Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [0x0D, 0x0A]
        }
        return bytes + Array((choices & 0x80 != 0 ? "0\r\nX-Check: 1\r\n\r\n" : "0\r\n\r\n").utf8)
    }

    private func openEnd(_ head: String, _ body: [UInt8], _ choices: UInt8) -> [ScriptedPeer.Step] {
        guard choices & 0x0C == 0x04 else { return [.bytes(Array(head.utf8) + body), .close] }
        facts.hasOpenEnd = true
        return [.bytes(Array(head.utf8) + body.prefix(count())), .close]
    }

    /// A head and a body with a defined end, possibly truncated or followed by an unsolicited response.
    private func reply(
        _ head: String, _ body: [UInt8], _ event: ScriptedPeer.Event, _ choices: UInt8
    ) -> [ScriptedPeer.Step] {
        let bytes = Array(head.utf8) + (event.method == "HEAD" ? [] : body)
        switch choices & 0x0C {
        case 0x04:
            let cut = Int(input.byte()) << 8 | Int(input.byte())
            let ends: [ScriptedPeer.Step] = cut % 3 == 0 ? [.reset] : [.close]
            return [.bytes(Array(bytes.prefix(cut % max(1, bytes.count))))] + ends
        case 0x08 where !lyingConnections.contains(event.connection):
            // Sent together with the response, so that it arrives before the next request.
            let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 64\r\nETag: \"p\"\r\n\r\n"
            return [.bytes(bytes + Array(surplus.utf8) + [UInt8](repeating: Content.surplus, count: 64))]
        case 0x0C: return [.bytes(bytes), .close]
        default: return [.bytes(bytes)]
        }
    }

    private func interim() -> [ScriptedPeer.Step] {
        let statuses = ["100 Continue", "102 Processing", "103 Early Hints", "199 What"]
        let status = statuses[Int(input.byte()) % statuses.count]
        let text = "HTTP/1.1 \(status)\r\nLink: </a>; rel=preload\r\n\r\n"
        let count = Int(input.byte()) % 40
        return [.bytes(Array(String(repeating: text, count: max(1, count)).utf8))]
    }

    private func busy(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        facts.isHonest = false
        let statuses = [503, 500, 429, 408, 425, 404, 410, 403, 599]
        let status = statuses[Int(input.byte()) % statuses.count]
        let delays = ["0", "1", "Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"]
        let delay = input.byte() & 1 == 0 ? delays[Int(input.byte()) % delays.count] : number(near: 0)
        let head = "HTTP/1.1 \(status) No\r\nRetry-After: \(delay)\r\nContent-Length: 2\r\n\r\nno"
        return [.bytes(Array(head.utf8))]
    }

    private func redirect(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        facts.isHonest = false
        let statuses = [302, 301, 303, 307, 308, 300, 305, 304]
        let status = statuses[Int(input.byte()) % statuses.count]
        let head = "HTTP/1.1 \(status) Go\r\nLocation: \(location())\r\nContent-Length: 0\r\n"
        let more = input.byte() & 7 == 1 ? "Location: \(location())\r\n" : ""
        return [.bytes(Array("\(head)\(more)Cache-Control: max-age=\(number(near: 60))\r\n\r\n".utf8))]
    }

    private func location() -> String {
        let places = [
            "/b", "http://origin.test:\(port)/c", "http://other.test:\(port)/d", "http://127.0.0.1:\(port)/e",
            "http://10.0.0.1/", "https://origin.test:\(port)/", "ftp://origin.test/", "//other.test:\(port)/f", "",
            "http://u:p@origin.test:\(port)/g", "?h", "#i", "../../j", "http://[::1]:\(port)/", "http://", "/\u{1}k",
            "http://origin.test:99999/", "http://origin.test:/", "/" + String(repeating: "l", count: 9_000),
            "http://127.1:\(port)/m", "http://0x7f000001:\(port)/n", "javascript:1", "/é", "/%0d%0aX: y",
        ]
        return places[Int(input.byte()) % places.count]
    }

    // MARK: False responses

    /// A response with arbitrary status, fields and body.
    public func lie(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        facts.isHonest = false
        lyingConnections.insert(event.connection)
        if input.byte() & 3 == 1, version < Content.lastVersion { version += 1 }
        let planned = count()
        let head = statusLine() + fields(event, planned) + "\r\n"
        var steps: [ScriptedPeer.Step] = [.bytes(Array(head.utf8))]
        var place = rangeStart(event) ?? 0
        if input.byte() & 3 != 1 {
            steps.append(.bytes(Content.bytes(version, place..<(place + planned))))
            place += planned
            lastBodyBytes = planned
        }
        for _ in 0..<(Int(input.byte()) % 8) { steps += item(&place, event) }
        return steps
    }

    private func statusLine() -> String {
        let versions = ["HTTP/1.1", "HTTP/1.0", "HTTP/2", "HTTP/3", "HTTP/0.9", "ICY", "http/1.1", "HTTP/1.2", "HTTP/"]
        let statuses = [
            "200", "206", "304", "416", "204", "205", "301", "302", "307", "101", "100", "103", "199", "299", "400",
            "401", "404", "407", "408", "429", "500", "503", "600", "999", "000", "20", "2000", "-1", "+200", "", "2 0",
        ]
        let version = input.byte()
        let name = version < 200 ? versions[0] : versions[Int(version) % versions.count]
        return "\(name) \(statuses[Int(input.byte()) % statuses.count]) X\r\n"
    }

    /// A `Content-Range` value.
    private func contentRange(_ event: ScriptedPeer.Event, _ planned: Int) -> String {
        let start = rangeStart(event) ?? 0
        let first = number(near: start)
        if let place = Int(first) { facts.joins.insert(place) }
        let last = Known.isAvoided ? "\(start + planned - 1)" : number(near: start + planned - 1)
        let range = "bytes \(first)-\(last)/\(number(near: start + planned))"
        let forms = [range, "bytes */\(number(near: planned))", "items 0-1/2", "bytes=\(range.dropFirst(6))", ""]
        let choice = Int(input.byte())
        return choice < 200 ? range : forms[choice % forms.count]
    }

    private static let codings = [
        "gzip", "deflate", "br", "zstd", "identity", "chunked", "x-gzip", "compress", "", "gzip,", "GZIP", "gzip;q=0",
    ]
    private static let manyCodings = [
        "gzip, gzip", "gzip, gzip, gzip", "br, gzip, deflate", "gzip, chunked", "gzip, gzip, chunked",
        "chunked, chunked", "identity, gzip", String(repeating: "gzip,", count: 50) + "gzip",
    ]

    private func coding() -> String {
        let choice = Int(input.byte())
        if choice >= 192, !Known.isAvoided { return Self.manyCodings[choice % Self.manyCodings.count] }
        return Self.codings[choice % Self.codings.count]
    }

    private func fields(_ event: ScriptedPeer.Event, _ planned: Int) -> String {
        let start = rangeStart(event) ?? 0
        var text = ""
        for _ in 0..<(Int(input.byte()) % 9) {
            switch input.byte() % 28 {
            case 0, 1: text += "Content-Length: \(number(near: planned))\r\n"
            case 2, 3: text += "Content-Range: \(contentRange(event, planned))\r\n"
            case 4: text += "ETag: \"v\(version)\"\r\n"
            case 5: text += "ETag: W/\"v\(version)\"\r\n"
            case 6: text += "ETag: \(event.header("if-range") ?? "\"\(input.byte())\"")\r\n"
            case 7: text += "Last-Modified: \(event.header("if-range") ?? "Sat, 01 Jan 2000 00:00:00 GMT")\r\n"
            case 8: text += "Last-Modified: \(number(near: 0))\r\n"
            case 9: text += "Accept-Ranges: \(["bytes", "none", "", "bytes, none"][Int(input.byte() % 4)])\r\n"
            case 10: text += "Content-Type: image/png\r\n"
            case 11:
                facts.hasForeignBytes = true
                text += "Content-Encoding: \(coding())\r\n"
            case 12, 13: text += "Transfer-Encoding: chunked\r\n"
            case 14:
                text += Known.isAvoided ? "Transfer-Encoding: chunked\r\n" : "Transfer-Encoding: \(coding())\r\n"
            case 15: text += "Connection: \(["close", "keep-alive", "upgrade", "TE"][Int(input.byte() % 4)])\r\n"
            case 16: text += "Location: \(location())\r\n"
            case 17: text += "Retry-After: \(number(near: 0))\r\n"
            case 18: text += "Cache-Control: max-age=\(number(near: 60)), s-maxage=\(number(near: 5))\r\n"
            case 19: text += "Age: \(number(near: 0))\r\nDate: \(number(near: 0))\r\nExpires: \(number(near: 0))\r\n"
            case 20: text += "X: \(String(repeating: "x", count: take(Int(input.byte()) * 300)))\r\n"
            case 21: text += "no colon in this\r\n"
            case 22: text += " folded: \(number(near: start))\r\n"
            case 23: text += String(repeating: "Y: y\r\n", count: take(Int(input.byte()) * 8))
            case 24: text += "Upgrade: h2c\r\nTrailer: X\r\n"
            case 25:
                // Its bytes above 0x7F would be mistaken for content.
                facts.hasForeignBytes = true
                text += "\u{0}\u{1}\u{FF}: \u{0}\r\n"
            case 26: text += "Content-Length : \(planned)\r\nContent-Length:\(planned)\n"
            default: text += "Set-Cookie: a=b\r\nAlt-Svc: h2=\":1\"\r\nStrict-Transport-Security: max-age=1\r\n"
            }
        }
        return text
    }

    /// A part of a body, or of data that resembles one.
    private func item(_ place: inout Int, _ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        switch input.byte() % 14 {
        case 0, 1:
            let bytes = Content.bytes(version, place..<(place + count()))
            place += bytes.count
            return [.bytes(bytes)]
        case 2, 3:
            let bytes = Content.bytes(version, place..<(place + count()))
            place += bytes.count
            return [.bytes(Array((String(bytes.count, radix: 16) + "\r\n").utf8) + bytes + [0x0D, 0x0A])]
        case 4:
            let bytes = Content.bytes(version, place..<(place + count()))
            let size = Int(number(near: bytes.count)).map { String($0, radix: 16) } ?? "7fffffffffffffff"
            return [.bytes(Array("\(size);ext=\(size)\r\n".utf8) + bytes + [0x0D, 0x0A])]
        case 5: return [.bytes(Array("0\r\n\r\n".utf8))]
        case 6:
            let trailers = "0\r\n\(fields(event, 0))\r\n"
            return [.bytes(Array(trailers.utf8))]
        case 7:
            facts.hasForeignBytes = true
            return [.bytes((0..<(input.byte() % 64)).map { _ in input.byte() })]
        case 8: return [.pause(milliseconds: Int(input.byte() % 32))]
        case 9: return [.close]
        case 10: return [.reset]
        case 11: return [.finish]
        case 12:
            facts.hasForeignBytes = true
            return [.bytes(Array(Compressed.samples[Int(input.byte()) % Compressed.samples.count]))]
        default:
            // Many small chunks.
            let chunk: [UInt8] =
                [0x31, 0x0D, 0x0A] + Content.bytes(version, place..<(place + 1)) + [0x0D, 0x0A]
            let count = take(Int(input.byte()) * 64 * chunk.count) / chunk.count
            return [.bytes(Array(repeatElement(chunk, count: count).joined()))]
        }
    }

    // MARK: HTTP/2

    private func frames(for event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        var bytes: [UInt8] = []
        if greeted.insert(event.connection).inserted { bytes += settings() }
        guard input.byte() % 4 != 3 else { return [.bytes(bytes)] + lyingFrames(event) }
        let total = length(of: version)
        let count = take(total)
        if count < total { facts.isHonest = false }
        let fields = [
            (":status", "200"), ("etag", "\"v\(version)\""), ("content-length", "\(total)"),
        ]
        bytes += HTTP2.frame(1, flags: total == 0 ? 5 : 4, stream: event.stream, HTTP2.headers(fields))
        if total > 0 {
            bytes += HTTP2.data(Content.bytes(version, 0..<count), stream: event.stream, ends: count == total)
        }
        return [.bytes(bytes)]
    }

    private func settings() -> [UInt8] {
        let count = Int(input.byte()) % 4
        let pairs = (0..<count).flatMap { _ -> [UInt8] in [0, input.byte() % 12] + HTTP2.word(word()) }
        return HTTP2.frame(4, stream: 0, pairs)
    }

    private func word() -> UInt32 {
        let words: [UInt32] = [
            0, 1, 100, 16_383, 16_384, 16_385, 65_535, 65_536, 0x7FFF_FFFE, 0x7FFF_FFFF, 0x8000_0000, .max, 0xFF_FFFF,
        ]
        return words[Int(input.byte()) % words.count]
    }

    private func lyingFrames(_ event: ScriptedPeer.Event) -> [ScriptedPeer.Step] {
        facts.isHonest = false
        lyingConnections.insert(event.connection)
        if input.byte() & 3 == 1, version < Content.lastVersion { version += 1 }
        var steps: [ScriptedPeer.Step] = []
        var place = lastBodyBytes
        for _ in 0..<(1 + Int(input.byte()) % 8) { steps += lyingFrame(event, &place) }
        return steps
    }

    private func streamID(_ event: ScriptedPeer.Event) -> UInt32 {
        let choice = input.byte()
        let others: [UInt32] = [0, 1, 2, 3, event.stream &+ 2, 0x7FFF_FFFF, 0xFFFF_FFFF]
        return choice < 192 ? event.stream : others[Int(choice) % others.count]
    }

    private func lyingFrame(_ event: ScriptedPeer.Event, _ place: inout Int) -> [ScriptedPeer.Step] {
        let stream = streamID(event)
        switch input.byte() % 16 {
        case 0...3: return [.bytes(lyingHeaders(event, stream))]
        case 4, 5:
            let bytes = Content.bytes(version, place..<(place + count()))
            place += bytes.count
            lastBodyBytes = place
            return [.bytes(HTTP2.data(bytes, stream: stream, ends: input.byte() & 1 == 0))]
        case 6:
            // Padded: the first byte is the padding's length.
            let bytes = [input.byte()] + Content.bytes(version, place..<(place + Int(input.byte())))
            return [.bytes(HTTP2.frame(0, flags: 8 | input.byte() & 1, stream: stream, bytes))]
        case 7: return [.bytes(HTTP2.frame(3, stream: stream, HTTP2.word(word())))]
        case 8: return [.bytes(HTTP2.frame(7, stream: 0, HTTP2.word(word()) + HTTP2.word(word())))]
        case 9: return [.bytes(HTTP2.frame(8, stream: stream, HTTP2.word(word())))]
        case 10: return [.bytes(settings())]
        case 11:
            let promised = HTTP2.headers([(":method", "GET"), (":path", "/p"), (":scheme", "http")])
            return [.bytes(HTTP2.frame(5, flags: 4, stream: stream, HTTP2.word(word()) + promised))]
        case 12:
            // A flood of unsolicited frames.
            let kinds: [UInt8] = [6, 8, 0, 2, 9, 4]
            let kind = kinds[Int(input.byte()) % kinds.count]
            let payload = [UInt8](repeating: 0, count: [8, 4, 0, 5, 0, 0][kinds.firstIndex(of: kind) ?? 0])
            let one = HTTP2.frame(kind, stream: kind == 6 || kind == 4 ? 0 : stream, payload)
            let count = take(Int(input.byte()) * 32 * one.count) / one.count
            return [.bytes(Array(repeatElement(one, count: count).joined()))]
        case 13:
            facts.hasForeignBytes = true
            let payload = (0..<(input.byte() % 32)).map { _ in input.byte() }
            return [.bytes(HTTP2.frame(input.byte(), flags: input.byte(), stream: stream, payload))]
        case 14: return [.pause(milliseconds: Int(input.byte() % 32))]
        default: return [[.close], [.reset], [.finish], []][Int(input.byte() % 4)]
        }
    }

    private func lyingHeaders(_ event: ScriptedPeer.Event, _ stream: UInt32) -> [UInt8] {
        let statuses = ["200", "206", "304", "416", "302", "100", "103", "204", "503", "404", "0", "abc", "99999"]
        var fields = [(":status", statuses[Int(input.byte()) % statuses.count])]
        for _ in 0..<(Int(input.byte()) % 6) {
            switch input.byte() % 14 {
            case 0, 1: fields.append(("content-length", number(near: 5_000)))
            case 2, 3:
                let first = number(near: lastBodyBytes)
                if let join = Int(first) { facts.joins.insert(join) }
                let last = Known.isAvoided ? "\(lastBodyBytes + 4_999)" : number(near: lastBodyBytes + 4_999)
                fields.append(("content-range", "bytes \(first)-\(last)/\(number(near: lastBodyBytes + 5_000))"))
            case 4: fields.append(("etag", "\"v\(version)\""))
            case 5: fields.append(("etag", "\"v\(Content.firstVersion)\""))
            case 6: fields.append(("location", location()))
            case 7:
                facts.hasForeignBytes = true
                fields.append(("content-encoding", coding()))
            case 8: fields.append(("transfer-encoding", Known.isAvoided ? "chunked" : coding()))
            case 9: fields.append(("retry-after", number(near: 0)))
            case 10: fields.append(("x", String(repeating: "x", count: take(Int(input.byte()) * 100))))
            case 11: fields.append((":status", "200"))
            case 12: fields.append(("Upper", "\r\nX: y"))
            default: fields.append(("", ""))
            }
        }
        // Mostly with END_HEADERS, sometimes with END_STREAM.
        let flags: UInt8 = [4, 4, 4, 5, 5, 0, 4, 12][Int(input.byte() % 8)]
        return HTTP2.frame(1, flags: flags, stream: stream, HTTP2.headers(fields))
    }
}

/// Known bugs that are not fixed yet: `FUZZ_AVOID_KNOWN=1` avoids inputs that trigger them.
public enum Known {
    public static let isAvoided = isSet("FUZZ_AVOID_KNOWN")
}
