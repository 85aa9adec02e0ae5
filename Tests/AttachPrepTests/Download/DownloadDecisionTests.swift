import Curl
import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

@Suite struct DownloadDecisionTests {
    // MARK: Meaning of a response head

    @Test(arguments: [
        (200, ResponseVerdict.whole(total: 10)), (203, .whole(total: 10)), (301, .redirect(location: "/b")),
        (302, .redirect(location: "/b")), (303, .redirect(location: "/b")), (307, .redirect(location: "/b")),
        (308, .redirect(location: "/b")), (300, .rejected(status: 300)), (304, .rejected(status: 304)),
        (400, .rejected(status: 400)), (401, .rejected(status: 401)), (403, .rejected(status: 403)),
        (404, .gone(status: 404)),
        (410, .gone(status: 410)), (408, .busy(status: 408)), (425, .busy(status: 425)), (429, .busy(status: 429)),
        (416, .rejected(status: 416)), (500, .busy(status: 500)), (503, .busy(status: 503)), (599, .busy(status: 599)),
    ])
    func `Each status has one meaning`(status: Int, verdict: ResponseVerdict) {
        let head = ResponseHead(status: status, [("content-length", "10"), ("location", "/b")])
        #expect(ResponseVerdict(head, resuming: nil) == verdict)
    }

    @Test func `A redirect without a location is an error`() {
        #expect(ResponseVerdict(ResponseHead(status: 302), resuming: nil) == .rejected(status: 302))
    }

    @Test func `The length of an encoded body is not the file's length`() {
        let head = ResponseHead(status: 200, [("content-length", "10"), ("content-encoding", "gzip")])
        #expect(ResponseVerdict(head, resuming: nil) == .whole(total: nil))
    }

    @Test(arguments: [
        ("bytes 100-199/200", ResponseVerdict.continuation(total: 200)),
        ("bytes 100-149/200", .continuation(total: 200)),
        ("bytes 100-199/*", .continuation(total: 200)), ("bytes 0-199/200", .unusableRange),
        ("bytes 101-199/200", .unusableRange), ("bytes 100-299/300", .unusableRange),
        ("bytes 100-99/200", .unusableRange),
        ("bytes */200", .unusableRange), ("lines 100-199/200", .unusableRange), ("", .unusableRange),
    ])
    func `Only a matching range resumes a file`(range: String, verdict: ResponseVerdict) throws {
        #expect(
            ResponseVerdict(ResponseHead(status: 206, [("content-range", range)]), resuming: try point()) == verdict)
    }

    @Test func `A range of another version does not resume a file`() throws {
        let fields = [(name: "content-range", value: "bytes 100-199/200"), (name: "etag", value: "\"2\"")]
        #expect(ResponseVerdict(ResponseHead(status: 206, fields), resuming: try point()) == .unusableRange)
    }

    @Test func `An unsatisfiable range restarts the file`() throws {
        #expect(ResponseVerdict(ResponseHead(status: 416), resuming: try point()) == .unusableRange)
    }

    @Test(arguments: [("bytes 0-9/10", ResponseVerdict.whole(total: 10)), ("bytes 0-4/10", .rejected(status: 206))])
    func `An unrequested range is accepted only if it is the whole file`(range: String, verdict: ResponseVerdict) {
        #expect(ResponseVerdict(ResponseHead(status: 206, [("content-range", range)]), resuming: nil) == verdict)
    }

    // MARK: Resuming

    @Test(arguments: [
        ([("etag", "\"1\"")], "\"1\""), ([("etag", "W/\"1\""), ("last-modified", "Sat")], "Sat"),
        ([("last-modified", "Sat")], "Sat"), ([("etag", "W/\"1\"")], nil), ([], nil),
        ([("etag", "\"1\""), ("content-encoding", "gzip")], nil),
        ([("etag", "\"1\""), ("accept-ranges", "none")], nil),
    ])
    func `A file is resumed only with a strong validator`(fields: [(String, String)], validator: String?) {
        let head = ResponseHead(status: 200, fields.map { (name: $0.0, value: $0.1) })
        #expect(ResumePoint(after: head, bytes: 100, total: 200)?.validator.string == validator)
        #expect(ResumePoint(after: head, bytes: 0, total: 200) == nil)
    }

    // MARK: Next step

    @Test(arguments: [
        (CurlCode.couldNotConnect, false, ErrorCode.downloadConnect, true),
        (.gotNothing, false, .downloadConnect, true),
        (.receiveError, false, .downloadConnect, true), (.receiveError, true, .downloadTruncated, true),
        (.partialFile, true, .downloadTruncated, true), (.http2Stream, true, .downloadTruncated, true),
        (.timedOut, false, .downloadTimeout, true), (CurlCode(rawValue: 60), false, .downloadTLS, false),
        (CurlCode(rawValue: 35), false, .downloadTLS, false), (.weirdServerReply, false, .downloadHTTPStatus, false),
        (.unsupportedProtocol, false, .downloadHTTPStatus, false),
        (.couldNotResolveHost, false, .downloadConnect, false), (.outOfMemory, false, .downloadTooLarge, false),
        (.outOfMemory, true, .internal, false),
    ])
    func `Each transfer error has one code, and is retried or not`(
        code: CurlCode, hasHead: Bool, error: ErrorCode, isRetried: Bool
    ) {
        let curlError = CurlError(interface: .easy, rawCode: code.rawValue, operation: "transfer", text: "")
        let received = DownloadExchange.Received()
        switch DownloadDecision(after: .failed(curlError), received, facts(hasHead: hasHead)) {
        case .retry(let failure): #expect(failure.code == error && isRetried)
        case .fail(let failure): #expect(failure.code == error && !isRetried)
        case let step: Issue.record("\(step)")
        }
    }

    @Test(arguments: [
        ("OpenSSL SSL_read: error:0A00045C:SSL routines::tlsv13 alert certificate required", ErrorCode.downloadTLS),
        ("OpenSSL SSL_read: error:0A000412:SSL routines::sslv3 alert bad certificate", .downloadTLS),
        ("SSL_write() error: error:0A00007F:SSL routines::bad write retry", .downloadConnect),
        ("OpenSSL SSL_read: error:0A000126:SSL routines::unexpected eof while reading", .downloadConnect),
        ("error:0A", .downloadConnect), ("Connection reset by peer", .downloadConnect),
    ])
    func `Only an alert of the server after the handshake is a TLS failure`(message: String, code: ErrorCode) {
        let error = CurlError(
            interface: .easy, rawCode: CurlCode.receiveError.rawValue, operation: "transfer", text: message)
        #expect(TransferError(.failed(error), facts())?.error.code == code)
    }

    @Test(arguments: [
        (TransferEnding.connectTimedOut, ErrorCode.downloadTimeout), (.firstByteTimedOut, .downloadTimeout),
        (.stalled, .downloadTimeout), (.deadlineReached, .deadlineExceeded), (.cancelled, .cancelled),
    ])
    func `Each exceeded limit has one code`(ending: TransferEnding, code: ErrorCode) {
        #expect(TransferError(ending, facts())?.error.code == code)
    }

    @Test func `A status takes precedence over how the connection ended`() {
        let received = DownloadExchange.Received(head: ResponseHead(status: 404), verdict: .gone(status: 404))
        guard case .fail(let error) = DownloadDecision(after: .stalled, received, facts()) else {
            Issue.record("unexpected step")
            return
        }
        #expect(error.code == .sourceNotFound)
    }

    @Test func `A range that ends early is truncated`() {
        let received = DownloadExchange.Received(head: ResponseHead(status: 206), verdict: .continuation(total: 200))
        guard case .retry(let error) = DownloadDecision(after: .completed, received, facts()) else {
            Issue.record("unexpected step")
            return
        }
        #expect(error.code == .downloadTruncated)
    }

    // MARK: Retry delay

    @Test func `The retry delay doubles with each attempt, with random jitter`() {
        let schedule = RetrySchedule(backOff: .milliseconds(200))
        func delay(_ tries: Int, _ chance: Double) -> Duration? {
            schedule.delay(afterTries: tries, chance: chance, retryAfter: nil, timeLeft: .seconds(30))
        }
        #expect(delay(1, 0.5) == .milliseconds(100))
        #expect(delay(2, 0.5) == .milliseconds(200))
        #expect(delay(3, 0.5) == .milliseconds(400))
        #expect(delay(1, 0) == .zero)
        #expect(delay(Limits.downloadAttemptsMax, 0.5) == nil)
    }

    @Test func `Retry-After is honored while time is left`() {
        let schedule = RetrySchedule(backOff: .milliseconds(200))
        func delay(_ retryAfter: Duration) -> Duration? {
            schedule.delay(afterTries: 1, chance: 0.5, retryAfter: retryAfter, timeLeft: .seconds(30))
        }
        #expect(delay(.seconds(3)) == .seconds(3))
        #expect(delay(.seconds(30)) == nil)
    }

    @Test(arguments: ["bytes 0-9223372036854775807/*", "bytes 0-9223372036854775806/9223372036854775807"])
    func `The largest possible range does not overflow`(range: String) {
        let verdict = ResponseVerdict(ResponseHead(status: 206, [("content-range", range)]), resuming: nil)
        #expect(verdict == (range.hasSuffix("*") ? .rejected(status: 206) : .whole(total: .max)))
    }

    private func point() throws -> ResumePoint {
        try #require(ResumePoint(after: ResponseHead(status: 200, [("etag", "\"1\"")]), bytes: 100, total: 200))
    }

    private func facts(hasHead: Bool = false) -> TransferError.Facts {
        TransferError.Facts(host: "cdn.example", limits: DownloadTimeouts(), hasHead: hasHead, bytes: 100, total: 200)
    }
}
