import AttachPrepModel
import RichPush
import SafeArithmetic

/// How a request with fallbacks divides its time, and which errors lead to the next source. Pure.
enum FallbackSchedule {
    /// The time in which a source must be downloaded, so that each source after it still has a chance.
    ///
    /// Reserved for each later source are `Limits.fallbackReserveSeconds`, but no more than an equal share of the time
    /// that is left. A source that fails early leaves its time to the others, and the last one has all that is left.
    ///
    /// - Parameters:
    ///   - left: Time until the request's deadline.
    ///   - later: Sources after this one.
    static func share(of left: Duration, later: Int) -> Duration {
        // Bounded throughout: a budget, and the number of fallbacks.
        let equal = left / (later + 1)
        return left - min(equal, .seconds(Limits.fallbackReserveSeconds)) * later
    }

    /// The seconds that a source may be waited for: what the earlier ones have left of the request's wait.
    static func waitSeconds(until end: ContinuousClock.Instant, now: ContinuousClock.Instant) -> Double {
        max(0, now.duration(to: end) / .seconds(1))
    }

    /// Whether to try the next source: the error concerns this one, not the request, the machine or the target.
    static func allowsNextSource(_ code: ErrorCode) -> Bool {
        switch code {
        case .deadlineExceeded, .limitExceeded, .internal: true
        default: ["source.", "download.", "media."].contains { code.rawValue.hasPrefix($0) }
        }
    }

    /// The error when no source could be prepared: that of the first one, retryable if that of any source is.
    static func error(_ failures: [AttachPrepError]) -> AttachPrepError {
        guard let first = failures.first else { return AttachPrepError(.internal, "The request has no source.") }
        guard failures.count > 1 else { return first }
        let others = failures.count - 1  // Bounded: array concatenation.
        let note = others == 1 ? "The fallback failed as well." : "The \(others) fallbacks failed as well."
        return AttachPrepError(
            first.code, "\(first.message) \(note)", detail: first.detail,
            isRetryable: failures.contains(where: \.isRetryable))
    }
}

/// A source of a request with fallbacks.
struct SourceCandidate: Sendable {
    /// The request for it alone.
    let request: AttachmentRequest
    let location: SourceLocation
}

extension AttachmentRequest {
    /// The request for each source on its own, in order, without repetitions.
    package var alternatives: [AttachmentRequest] {
        var seen: Set<String> = [source]
        var first = self
        first.fallbacks = []
        // Bounded: array concatenation.
        return [first] + fallbacks.filter { seen.insert($0).inserted }.map(alternative)
    }

    private func alternative(_ fallback: String) -> AttachmentRequest {
        var request = self
        (request.source, request.fallbacks, request.matrix) = (fallback, [], nil)
        request.headers = [:]
        guard let from = try? WebAddress(source), let address = try? WebAddress(fallback) else { return request }
        for (name, value) in headers(for: address, from: from) { request.headers[name] = value }
        // Credentials of the fallback's own URL take precedence over those of the source's.
        if address.basicAuthorization != nil, !headers.keys.contains(where: { $0.lowercased() == "authorization" }) {
            request.headers["Authorization"] = nil
        }
        return request
    }
}

/// Preparing the first of several sources that can be prepared.
extension PreparationPipeline {
    /// Tries the sources in order.
    ///
    /// One deadline counts for all of them, and one wait: what one source has waited is over for the others.
    func preparedFirst(of candidates: [SourceCandidate], _ clock: inout RequestClock) async -> PreparationResult {
        let waitEnd = request.waitSeconds.map { ContinuousClock.now + .seconds(clamping: $0) }
        var (failures, last): ([AttachPrepError], Manifest?) = ([], nil)
        var tried: [ManifestTriedSource] = []
        for (number, candidate) in candidates.enumerated() {
            var pipeline = self
            (pipeline.request, pipeline.location, pipeline.tried) = (candidate.request, candidate.location, tried)
            pipeline.request.waitSeconds = waitEnd.map { FallbackSchedule.waitSeconds(until: $0, now: .now) }
            if number > 0 { pipeline.validators = nil }
            // Bounded: an index of a list.
            let later = candidates.count - number - 1
            let result = await pipeline.attempt(&clock) {
                // Bounded: durations of a budget.
                $0 - FallbackSchedule.reserve(of: ContinuousClock.now.duration(to: $0), later: later)
            }
            guard case .ended(let manifest, let freshness) = result else { return result }
            guard let error = manifest.error else {
                // The source may exist the next time, so the result of a fallback is never taken for it.
                return .ended(manifest, number == 0 ? freshness : SourceFreshness())
            }
            failures.append(AttachPrepError(error.code, error.message, isRetryable: error.retryable))
            (last, tried) = (manifest, manifest.source.tried ?? [])
            guard FallbackSchedule.allowsNextSource(error.code), !Task.isCancelled, ContinuousClock.now < clock.deadline
            else { break }
        }
        guard var manifest = last else { preconditionFailure("a request has a source") }
        manifest.reject(FallbackSchedule.error(failures))
        return .ended(manifest, nil)
    }
}

extension FallbackSchedule {
    /// The time that a source leaves to the later ones.
    fileprivate static func reserve(of left: Duration, later: Int) -> Duration {
        max(.zero, left - share(of: left, later: later))  // Bounded: durations of a budget.
    }
}

extension Limits {
    /// Seconds that a source leaves to each fallback after it: a snapshot of a camera takes one or two.
    static let fallbackReserveSeconds = 5.0
}
