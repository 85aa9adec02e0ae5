package import AttachPrep
package import AttachPrepModel
import FoundationEssentials
import RichPush

/// Encodes and decodes the single-line JSON that the database stores.
package enum StoredJSON {
    package static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    /// - Throws: `queue.unavailable` when the text cannot be decoded.
    package static func value<Value: Decodable>(_ text: String, _ what: String) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
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

    /// The error for retrying a job whose secrets were deleted.
    package static func wipedError(_ id: JobID) -> AttachPrepError {
        AttachPrepError(
            .requestConflict,
            "The secrets of job \(id) were deleted when it was cancelled; submit its request again.")
    }
}

/// The end of a job, encoded for the database.
package struct EncodedCompletion: Sendable {
    package let state: JobState
    package let media: MediaID?
    package let result: String?
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
        result = try manifest.map { try StoredJSON.text($0) }
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
    /// Back-off after a failed attempt or a lost worker.
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
