import AttachPrepModel
import FoundationEssentials
import Linux
import MediaTypes
import SafeArithmetic

/// A role that is assumed with the token of a web identity, as Kubernetes writes it for a service account (IRSA).
///
/// <https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html>
struct WebIdentityRole: Sendable, Hashable {
    /// The file with the token, which is read again for each request because it is replaced before it expires.
    let tokenFile: String
    let roleARN: String
    /// The session name for the logs of AWS; nil for one with the time.
    let sessionName: String?
    /// The URL of the token service.
    let endpoint: String

    /// Nil when neither environment nor profile names a token file.
    ///
    /// - Throws: `publish.denied` for an incomplete or invalid configuration.
    init?(_ environment: [String: String], _ profile: AWSProfile) throws(AttachPrepError) {
        guard
            let file = environment.value("AWS_WEB_IDENTITY_TOKEN_FILE") ?? profile["web_identity_token_file"]
        else { return nil }
        guard let role = environment.value("AWS_ROLE_ARN") ?? profile["role_arn"] else {
            throw Self.invalid("the token file is configured without a role", remedy: "set AWS_ROLE_ARN too")
        }
        let region =
            environment.value("AWS_REGION") ?? environment.value("AWS_DEFAULT_REGION") ?? profile["region"]
            ?? S3Bucket.standardRegion
        guard S3Settings.isRegion(region) else {
            throw Self.invalid("AWS_REGION is not a region", remedy: "correct it")
        }
        let url =
            AWSEndpoint.configured(for: "sts", environment: environment, profile: profile)
            ?? AWSEndpoint.amazon("sts", region: region)
        guard let address = try? WebAddress(url.contains("://") ? url : "https://\(url)") else {
            throw Self.invalid("the URL of the token service is invalid", remedy: "correct AWS_ENDPOINT_URL_STS")
        }
        let name = environment.value("AWS_ROLE_SESSION_NAME") ?? profile["role_session_name"]
        guard name.map(Self.isSessionName) ?? true else {
            throw Self.invalid(
                "AWS_ROLE_SESSION_NAME must have 2 to 64 letters, digits and characters of _=,.@-", remedy: "correct it"
            )
        }
        (tokenFile, roleARN, sessionName, endpoint) = (file, role, name, address.text)
    }

    /// - Throws: `publish.denied` for an unusable token or a role that may not be assumed, `publish.unavailable`.
    func credentials(_ client: CredentialClient) async throws -> IssuedCredentials {
        let host = (try? WebAddress(endpoint).host) ?? "STS"
        let service = "the token service \(host)"
        let bytesMax = Limits.webIdentityTokenBytesMax
        let token: Substring
        do { token = try SmallFile.text(of: tokenFile, bytesMax: bytesMax).trimmingWhitespace } catch {
            throw Self.invalid(
                "the token file \(tokenFile) \(error.reason(bytesMax: bytesMax))",
                remedy: "check AWS_WEB_IDENTITY_TOKEN_FILE")
        }
        guard !token.isEmpty else {
            throw Self.invalid("the token file \(tokenFile) is empty", remedy: "check AWS_WEB_IDENTITY_TOKEN_FILE")
        }
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", roleARN),
            ("RoleSessionName", sessionName ?? "attachprep-\(Int(clamping: Date.now.timeIntervalSince1970))"),
            ("WebIdentityToken", String(token)),
        ]
        let body = fields.map { "\($0)=\(PercentEncoding.encoded($1))" }.joined(separator: "&")
        let response = try await client.send(
            .post, url: endpoint,
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "text/xml")],
            body: Array(body.utf8), to: service, secondsMax: Limits.credentialResponseSecondsMax)
        guard response.status == 200 else { throw Self.failure(response, service: service) }
        return try Self.credentials(in: response.body, from: service)
    }

    private static func credentials(in body: [UInt8], from service: String) throws(AttachPrepError)
        -> IssuedCredentials
    {
        func text(_ name: String) -> String? {
            XMLText.first(name, in: body, bytesMax: Limits.credentialTextBytesMax).flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let id = text("AccessKeyId"), let secret = text("SecretAccessKey"), let token = text("SessionToken")
        else { throw CredentialError.invalid(service, reason: "its response has no credentials") }
        return try IssuedCredentials(
            accessKeyID: id, secretAccessKey: secret, sessionToken: token, expiration: text("Expiration"),
            from: service)
    }

    private static func failure(_ response: HTTPClientResponse, service: String) -> AttachPrepError {
        let code = XMLText.first("Code", in: response.body)
        let remedy: String? =
            switch code {
            case "ExpiredTokenException", "InvalidIdentityToken":
                "check that the token file is renewed and that the cluster is an identity provider of the account"
            case "AccessDenied": "allow the service account in the trust policy of the role"
            default: nil
            }
        // The service could not reach the identity provider: temporary.
        if code == "IDPCommunicationError" {
            return CredentialError.unavailable(service, reason: "it could not reach the identity provider")
        }
        guard let remedy, let code else {
            return CredentialError.status(response, code: code, of: service)
        }
        return CredentialError.invalid(service, reason: "it answered \(code)", remedy: remedy)
    }

    private static func isSessionName(_ name: String) -> Bool {
        2...64 ~= name.utf8.count
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_+=,.@-".contains($0)) }
    }

    private static func invalid(_ reason: String, remedy: String) -> AttachPrepError {
        CredentialError.invalid("the web identity", reason: reason, remedy: remedy)
    }
}

extension Limits {
    /// Bytes of a web identity's token: the limit of STS.
    static let webIdentityTokenBytesMax = 20_000
}
