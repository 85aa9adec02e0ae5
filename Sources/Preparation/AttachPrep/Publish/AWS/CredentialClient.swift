import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// Credentials from a source that issues them, and when they end.
struct IssuedCredentials: Sendable, Hashable {
    let credentials: AWSCredentials
    /// Nil when the source did not name an end.
    let expiration: Date?
}

/// Sends the requests of credential sources, and reads their responses.
///
/// The requests share the HTTP client of the bucket, whose address policy is open: endpoints of metadata and token
/// services are on link-local and private addresses, and only the operator configures them. Media is downloaded with
/// another client, for which these addresses stay blocked. Redirects are not followed, and proxies are not used.
struct CredentialClient: Sendable {
    let client: HTTPClient
    /// The environment, with tokens and for programs; contains secrets.
    let environment: [String: String]

    /// Sends a request, and retries it after a connection error or a temporary status.
    ///
    /// - Parameters:
    ///   - service: The name of the service for messages, such as "the token service sts.amazonaws.com".
    ///   - secondsMax: The most time for each attempt.
    /// - Returns: A complete response of any status.
    /// - Throws: `publish.unavailable`, `publish.denied` for an invalid URL or an oversized response, `cancelled`.
    func send(
        _ method: HTTPClientRequest.Method, url: String, headers: [(name: String, value: String)] = [],
        body: [UInt8] = [], to service: String, secondsMax: Double
    ) async throws -> HTTPClientResponse {
        var schedule = RetrySchedule(backOff: .seconds(Limits.credentialBackOffSeconds))
        schedule.attemptsMax = Limits.credentialAttemptsMax
        var attempts = 1
        while true {
            let delay = schedule.delay(
                afterTries: attempts, chance: .random(in: 0..<1), retryAfter: nil,
                timeLeft: .seconds(clamping: secondsMax))
            do {
                let request = HTTPClientRequest(
                    method, url, headers: headers, body: body, responseBytesMax: Limits.credentialResponseBytesMax,
                    deadline: .now + .seconds(clamping: secondsMax))
                let response = try await client.send(request)
                let isBusy = response.status == 429 || 500..<600 ~= response.status
                if !isBusy || delay == nil { return try Self.whole(response, from: service) }
            } catch let error as AttachPrepError {
                // A service that used up its time would probably do so again.
                let isTransient = error.isRetryable && ![.publishDenied, .deadlineExceeded].contains(error.code)
                guard isTransient, delay != nil else { throw Self.failure(error, of: service) }
            }
            do { try await ContinuousClock().sleep(for: delay ?? .zero) } catch { throw AttachPrepError.cancelled }
            attempts += 1
        }
    }

    private static func whole(_ response: HTTPClientResponse, from service: String) throws -> HTTPClientResponse {
        if response.isWhole { return response }
        guard response.body.count >= Limits.credentialResponseBytesMax else {
            throw CredentialError.unavailable(service, reason: "its response was interrupted")
        }
        throw CredentialError.invalid(
            service, reason: "its response exceeds \(Limits.credentialResponseBytesMax.grouped) bytes")
    }

    private static func failure(_ error: AttachPrepError, of service: String) -> AttachPrepError {
        switch error.code {
        case .cancelled, .publishDenied, .publishUnavailable: error
        case .sourceInvalidURL, .sourceSchemeNotAllowed, .requestInvalid:
            CredentialError.invalid(service, reason: "its URL or a header is invalid", detail: error.message)
        default: CredentialError.unavailable(service, reason: "it did not answer", detail: error.message)
        }
    }
}

/// Errors of credential sources. Of responses, their messages contain only status and error code: other parts may be
/// secrets, or repeat those of the request. Pure.
enum CredentialError {
    /// The source may work later.
    static func unavailable(_ service: String, reason: String, detail: String? = nil) -> AttachPrepError {
        AttachPrepError(
            .publishUnavailable, "No S3 credentials from \(service): \(reason); try again later.", detail: detail,
            isRetryable: true)
    }

    /// The source or its configuration has to be corrected.
    static func invalid(
        _ service: String, reason: String, remedy: String = "check its configuration", detail: String? = nil
    ) -> AttachPrepError {
        AttachPrepError(.publishDenied, "No S3 credentials from \(service): \(reason); \(remedy).", detail: detail)
    }

    /// An error status of a source.
    static func status(_ response: HTTPClientResponse, code: String?, of service: String) -> AttachPrepError {
        let reason = "it answered \(response.status)" + (code.flatMap(shown).map { " (\($0))" } ?? "")
        let isBusy = response.status == 429 || 500..<600 ~= response.status
        return isBusy ? unavailable(service, reason: reason) : invalid(service, reason: reason)
    }

    /// The error code of a response for a message; nil if it is not a name such as "AccessDenied".
    static func shown(_ code: String) -> String? {
        let isName = 1...64 ~= code.utf8.count && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isName ? code : nil
    }
}

/// The JSON document in which containers, machines and programs provide credentials.
struct CredentialDocument: Decodable, Sendable {
    let code: String?
    let version: Int?
    let accessKeyID: String?
    let secretAccessKey: String?
    /// The session token of containers and machines.
    let token: String?
    /// The session token of programs.
    let sessionToken: String?
    let expiration: String?

    private enum CodingKeys: String, CodingKey {
        case code = "Code"
        case version = "Version"
        case accessKeyID = "AccessKeyId"
        case secretAccessKey = "SecretAccessKey"
        case token = "Token"
        case sessionToken = "SessionToken"
        case expiration = "Expiration"
    }

    /// - Throws: `publish.denied` for anything else than such a document.
    init(_ bytes: [UInt8], from service: String) throws(AttachPrepError) {
        do {
            self = try ForeignJSON.decode(CredentialDocument.self, from: bytes)
        } catch {
            // The decoder's error may quote the document.
            throw CredentialError.invalid(service, reason: "its response is not a JSON document with credentials")
        }
    }

    /// - Throws: `publish.denied` when a part is missing, invalid or has expired.
    func credentials(from service: String) throws(AttachPrepError) -> IssuedCredentials {
        guard let accessKeyID, let secretAccessKey, !accessKeyID.isEmpty, !secretAccessKey.isEmpty else {
            throw CredentialError.invalid(service, reason: "its response has no AccessKeyId or SecretAccessKey")
        }
        let session = [token, sessionToken].compactMap(\.self).first { !$0.isEmpty }
        return try IssuedCredentials(
            accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: session, expiration: expiration,
            from: service)
    }
}

extension IssuedCredentials {
    /// - Throws: `publish.denied` when a part is invalid or has expired.
    init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String?, expiration: String?,
        from service: String
    ) throws(AttachPrepError) {
        let end = expiration.flatMap { $0.isEmpty ? nil : $0 }
        let date = end.flatMap { Timestamp.date($0) }
        guard (end == nil) == (date == nil) else {
            throw CredentialError.invalid(
                service, reason: "their expiration is not a time such as 2026-11-25T12:00:00Z")
        }
        if let date, date.timeIntervalSinceNow < Limits.credentialLifetimeSecondsMin {
            throw CredentialError.unavailable(
                service, reason: "they expired at \(Timestamp.text(date)) by this machine's clock")
        }
        self.init(
            credentials: try AWSCredentials(
                accessKeyID: accessKeyID, secretAccessKey: secretAccessKey, sessionToken: sessionToken, from: service),
            expiration: date)
    }
}

extension Limits {
    /// Attempts of one request to a credential source, including the first.
    static let credentialAttemptsMax = 3
    /// The longest back-off before the second attempt; doubled for the third, with random jitter.
    static let credentialBackOffSeconds = 0.2
    /// Time for each attempt at a token service or a container's credentials.
    static let credentialResponseSecondsMax = 5.0
    /// Bytes of a credential source's response: some 1,500 with a session token.
    static let credentialResponseBytesMax = 65_536
    /// Credentials that are valid for less time are rejected: they could expire during an upload's first request.
    static let credentialLifetimeSecondsMin = 10.0
}
