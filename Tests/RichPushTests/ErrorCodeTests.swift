import RichPush
import Testing

struct ErrorCodeTests {
    /// DESIGN 4.2, as other programs already rely on it.
    static let contract = [
        "request.invalid", "request.unauthorized", "request.not_found", "request.conflict", "request.too_large",
        "request.rate_limited", "source.invalid_url", "source.scheme_not_allowed", "source.address_blocked",
        "source.not_found", "download.dns", "download.connect", "download.tls", "download.http_status",
        "download.content_coding", "download.too_many_redirects", "download.timeout", "download.truncated",
        "download.too_large", "media.empty",
        "media.unrecognized", "media.unsupported", "media.corrupt", "media.encrypted", "media.too_many_pixels",
        "media.too_many_frames", "media.too_long", "media.quarantined", "media.decoder_crashed", "limit.exceeded",
        "options.invalid_clipping_rect", "options.invalid_time", "options.invalid_size", "deadline.exceeded",
        "deadline.not_after", "events.full",
        "output.not_writable", "output.no_space", "publish.denied", "publish.not_found", "publish.unavailable",
        "payload.no_media", "payload.too_large", "payload.invalid", "queue.full", "queue.unavailable",
        "job.crashed_service", "sandbox.unavailable", "cancelled", "internal",
    ]

    @Test func `The codes are the contract's, none renamed and none missing`() {
        #expect(Set(ErrorCode.allCases.map(\.rawValue)) == Set(Self.contract))
    }

    @Test(arguments: [
        (ErrorCode.sourceInvalidURL, 100), (.mediaUnrecognized, 101), (.mediaUnsupported, 101), (.limitExceeded, 102),
        (.downloadTooLarge, 102), (.mediaCorrupt, 105), (.mediaEmpty, 105),
    ])
    func `Apple's number goes along where one fits`(code: ErrorCode, number: Int) {
        #expect(code.appleCode == number)
    }

    @Test(arguments: ErrorCode.allCases) func `Every status is one of a failed request`(code: ErrorCode) {
        #expect((400...599).contains(code.httpStatus))
    }

    @Test func `What a second try may cure is retryable, what is wrong with the file is not`() {
        let retryable: [ErrorCode] = [.downloadDNS, .downloadConnect, .downloadTimeout, .downloadTruncated]
        let permanent: [ErrorCode] = [
            .mediaCorrupt, .mediaUnrecognized, .sourceNotFound, .limitExceeded, .downloadTLS, .deadlineNotAfter,
        ]
        #expect(retryable.allSatisfy { $0.isRetryable })
        #expect(!permanent.contains { $0.isRetryable })
    }
}
