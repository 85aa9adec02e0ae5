import AttachPrep
import Foundation
import MediaTypes
import Testing

@testable import AttachPrepJobs
@testable import AttachPrepModel

/// Which failures are retried, how often and until when.
@Suite struct RetryPolicyTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func error(_ code: ErrorCode, status: Int? = nil, isRetryable: Bool? = nil) -> ManifestError {
        ManifestError(AttachPrepError(code, "No.", isRetryable: isRetryable, status: status))
    }

    private func decide(
        _ error: ManifestError, _ policy: RetryPolicy, failures: Int = 1, notAfter: Date? = nil
    ) -> RetryDecision {
        RetryDecision(
            after: error, failures: failures, notAfter: notAfter, policy: policy, failedAt: Self.now, now: Self.now,
            chance: 0.5)
    }

    private func isRetried(_ error: ManifestError, _ policy: RetryPolicy, failures: Int = 1) -> Bool {
        if case .retry = decide(error, policy, failures: failures) { true } else { false }
    }

    @Test(arguments: [(403, false), (404, true), (410, false)])
    func `A patient job waits for media with status 404, and for other statuses that it lists`(
        status: Int, isDefault: Bool
    ) {
        let code: ErrorCode = status == 403 ? .downloadHTTPStatus : .sourceNotFound
        let error = error(code, status: status, isRetryable: false)
        #expect(!isRetried(error, RetryPolicy(.fast)))
        #expect(isRetried(error, RetryPolicy(.patient)) == isDefault)
        var listed = RetryOptions()
        listed.statuses = [status]
        #expect(isRetried(error, RetryPolicy(.fast).applying(listed)))
    }

    @Test func `An incomplete file is waited for, but not for ever`() {
        for code in [ErrorCode.mediaEmpty, .mediaCorrupt] {
            #expect(isRetried(error(code), RetryPolicy(.patient)))
            #expect(!isRetried(error(code), RetryPolicy(.patient), failures: Limits.incompleteFileAttemptsMax))
            #expect(!isRetried(error(code), RetryPolicy(.fast)))
        }
    }

    @Test func `A missing upload and a name that does not exist are final`() {
        #expect(!isRetried(error(.sourceNotFound), RetryPolicy(.patient)))
        #expect(!isRetried(error(.downloadDNS, isRetryable: false), RetryPolicy(.patient)))
    }

    @Test(arguments: [
        (ErrorCode.downloadTimeout, RetryOptions.Cause.network), (.downloadConnect, .network),
        (.downloadHTTPStatus, .server), (.mediaDecoderCrashed, .processing), (.deadlineExceeded, .processing),
    ])
    func `Only the failures that a job names are retried`(code: ErrorCode, cause: RetryOptions.Cause) {
        for other in RetryOptions.Cause.allCases {
            var options = RetryOptions()
            options.causes = [other]
            #expect(isRetried(error(code), RetryPolicy().applying(options)) == (other == cause))
        }
    }

    @Test func `A job's options replace those of the service one by one`() {
        var service = RetryPolicy(.patient)
        service.attemptsMax = 7
        var options = RetryOptions()
        #expect(service.applying(nil) == service && service.applying(options) == service)
        options.backOffSeconds = 700
        let longer = service.applying(options)
        #expect(longer.attemptsMax == 7 && longer.backOffSeconds == 700 && longer.backOffSecondsMax == 700)
        options.preset = .fast
        #expect(service.applying(options).attemptsMax == Limits.jobAttemptsMax)
    }

    @Test func `A job is dead when its next attempt would be after until, and fails after notAfter`() {
        var options = RetryOptions()
        options.until = Self.now + 2
        let policy = RetryPolicy().applying(options)
        #expect(decide(error(.downloadTimeout), policy) == .markDead)
        #expect(decide(error(.downloadTimeout), policy, notAfter: Self.now + 2) == .fail)
        options.until = Self.now + 3
        #expect(isRetried(error(.downloadTimeout), RetryPolicy().applying(options)))
    }

    @Test func `A patient job is retried for some hours`() {
        let policy = RetryPolicy(.patient)
        let seconds = (1..<policy.attemptsMax).reduce(0.0) { $0 + policy.delayMax(failures: $1) / 2 }
        #expect((7 * 3_600...9 * 3_600).contains(Int(seconds)), "\(seconds)")
    }
}
