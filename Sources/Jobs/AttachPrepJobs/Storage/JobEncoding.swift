package import AttachPrep
package import AttachPrepModel
import FoundationEssentials
import MediaTypes

/// Encodes and decodes the single-line JSON that the database and the queue's servers store.
package enum StoredJSON {
    package static func text(_ value: some Encodable) throws -> String {
        String(decoding: try bytes(value), as: UTF8.self)
    }

    package static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return Array(try encoder.encode(value))
    }

    package static func value<Value: Decodable>(_ text: String, _ what: String) throws -> Value {
        try value(Array(text.utf8), what)
    }

    /// - Throws: `queue.unavailable` when the bytes cannot be decoded.
    package static func value<Value: Decodable>(_ bytes: [UInt8], _ what: String) throws -> Value {
        do {
            return try ForeignJSON.decode(Value.self, from: bytes)
        } catch {
            throw StorageErrors.unreadable(what, error)
        }
    }

    /// - Throws: `queue.unavailable` when the text cannot be decoded.
    package static func request(_ text: String) throws -> AttachmentRequest {
        do {
            return try AttachmentRequest(json: Array(text.utf8), defaults: AttachmentRequest(source: ""))
        } catch {
            throw StorageErrors.unreadable("a request", error)
        }
    }
}

/// The secrets of a request, stored separately from it while its job can still run.
package struct JobSecrets: Codable, Sendable, Hashable {
    /// The database value of secrets that were deleted.
    package static let wiped = ""

    package var source: String
    package var headers: [String: String]
    package var callbackURL: String?

    /// Nil when the request contains no secrets.
    package init?(_ request: AttachmentRequest) {
        let shown = request.shown
        let showsAll =
            request.headers.isEmpty && shown.source == request.source
            && shown.jobOptions.callbackURL == request.jobOptions.callbackURL
        if showsAll { return nil }
        source = request.source
        headers = request.headers
        callbackURL = request.jobOptions.callbackURL
    }

    /// Returns the redacted request with its secrets put back.
    package func restored(to shown: AttachmentRequest) -> AttachmentRequest {
        var request = shown
        request.source = source
        request.headers = headers
        request.jobOptions.callbackURL = callbackURL
        return request
    }

    package static func wipedError(_ id: JobID) -> AttachPrepError {
        AttachPrepError(
            .requestConflict,
            "The secrets of job \(id) were deleted when it was cancelled; submit its request again.")
    }
}

extension ClaimedJob {
    /// A claimed job from its stored parts.
    ///
    /// - Parameters:
    ///   - secret: `JobSecrets` as JSON.
    ///   - dueAt: milliseconds since 1970.
    /// - Throws: `queue.unavailable` for secrets that cannot be decoded.
    package init(
        _ job: Job, secret: String?, key: String, token: Int64, dueAt: Int64, losses: Int, waitsSince: Int64?
    ) throws {
        let secrets: JobSecrets? = try secret.map { try StoredJSON.value($0, "a job's secrets") }
        self.init(
            job: job, request: secrets?.restored(to: job.request) ?? job.request, key: WorkKey(key),
            lease: JobLease(job: job.id, token: token), dueAt: Date(milliseconds: dueAt),
            failures: Self.failures(attempts: job.attempts, losses: losses), losses: losses,
            waitsSince: waitsSince.map { Date(milliseconds: $0) })
    }
}

/// The end of a job, encoded for the database.
package struct EncodedCompletion: Sendable {
    package let state: JobState
    package let media: MediaID?
    /// Without the secret of sealed files.
    package let result: String?
    /// The secret of sealed files, which the database stores as other secrets; nil for other results.
    package let secret: String?
    package let error: String?
    package let errorCode: String?

    package init(_ ending: JobCompletion) throws {
        switch ending {
        case .succeeded(let manifest, let media): try self.init(.succeeded, manifest, media)
        case .failed(let manifest): try self.init(.failed, manifest)
        case .dead(let manifest): try self.init(.dead, manifest)
        case .cancelled: try self.init(.cancelled, nil)
        }
    }

    private init(_ state: JobState, _ manifest: Manifest?, _ media: MediaID? = nil) throws {
        self.state = state
        self.media = media
        result = try manifest.map { try StoredJSON.text($0.withoutSecret) }
        secret = manifest?.sealed?.secret?.text
        // A job that succeeded has no error, even if an earlier attempt failed.
        let failure = state == .succeeded ? nil : manifest?.error
        error = try failure.map { try StoredJSON.text($0) }
        errorCode = failure?.code.rawValue
    }
}

/// Why a queued job is due when it is.
package enum JobWait: Int {
    /// No wait: due since its submission.
    case none = 0
    /// Back-off after a failed attempt or a lost worker, or the wait for a dependency.
    case backOff = 1
    /// The caller set `notBefore`.
    case notBefore = 2
}

extension JobPriority {
    /// The number of the lane in the database.
    package var lane: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .bulk: 2
        }
    }
}

extension JobSecrets {
    /// Returns the callback URL of stored secrets; nil when they were deleted or contain none.
    package static func callbackURL(in text: String?) -> String? {
        guard let text, text != wiped, let secrets: JobSecrets = try? StoredJSON.value(text, "a job's secrets") else {
            return nil
        }
        return secrets.callbackURL
    }
}
