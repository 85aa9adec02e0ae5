import AttachPrepModel
import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// The role of an EC2 instance, from its metadata service, version 2 (IMDSv2).
///
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html>
struct InstanceRole: Sendable, Hashable {
    /// The URL of the metadata service, without a trailing slash.
    let endpoint: String
    /// The most seconds for each request.
    let secondsMax: Double

    /// Nil when `AWS_EC2_METADATA_DISABLED` is true.
    ///
    /// - Throws: `publish.denied` for an invalid endpoint.
    init?(_ environment: [String: String], _ profile: AWSProfile) throws(AttachPrepError) {
        if environment.value("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" { return nil }
        let mode =
            environment.value("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE")
            ?? profile["ec2_metadata_service_endpoint_mode"]
        let standard = mode?.lowercased() == "ipv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254"
        var url =
            environment.value("AWS_EC2_METADATA_SERVICE_ENDPOINT") ?? profile["ec2_metadata_service_endpoint"]
            ?? standard
        while url.last == "/" { url.removeLast() }
        guard (try? WebAddress(url)) != nil, !url.contains("?") else {
            throw CredentialError.invalid(
                "the instance's role", reason: "the URL of the metadata service is invalid",
                remedy: "correct AWS_EC2_METADATA_SERVICE_ENDPOINT")
        }
        endpoint = url
        let seconds = environment.value("AWS_METADATA_SERVICE_TIMEOUT").flatMap(Double.init)
        secondsMax = min(max(seconds ?? Limits.instanceResponseSecondsMax, 0.1), Limits.instanceResponseSecondsLargest)
    }

    private static let service = "the instance's metadata service"

    /// - Throws: `publish.denied` without a role, `publish.unavailable`.
    func credentials(_ client: CredentialClient) async throws -> IssuedCredentials {
        let token = try await token(client)
        let path = "/latest/meta-data/iam/security-credentials/"
        let list = try await get(path, token: token, client: client)
        let lines = String(decoding: list.body, as: UTF8.self).split(whereSeparator: \.isNewline)
        guard list.status == 200, let role = lines.first.map(String.init), Self.isRoleName(role) else {
            guard [200, 404].contains(list.status) else {
                throw CredentialError.status(list, code: nil, of: Self.service)
            }
            throw CredentialError.invalid(
                Self.service, reason: "the instance has no role", remedy: "attach an instance profile, or provide keys")
        }
        let response = try await get("\(path)\(role)", token: token, client: client)
        guard response.status == 200 else {
            throw CredentialError.status(response, code: nil, of: Self.service)
        }
        let document = try CredentialDocument(response.body, from: Self.service)
        if let code = document.code, code != "Success" {
            throw CredentialError.invalid(
                Self.service, reason: "it reports \(CredentialError.shown(code) ?? "an error") for the role \(role)",
                remedy: "check the role's trust policy")
        }
        return try document.credentials(from: Self.service)
    }

    /// The session token, which every request needs: a request that was forged through another program cannot send
    /// the PUT that obtains one.
    private func token(_ client: CredentialClient) async throws -> String {
        let response: HTTPClientResponse
        do {
            response = try await client.send(
                .put, url: "\(endpoint)/latest/api/token",
                headers: [("X-aws-ec2-metadata-token-ttl-seconds", "\(Limits.instanceTokenSeconds)")],
                to: Self.service, secondsMax: secondsMax)
        } catch let error as AttachPrepError where error.code == .publishUnavailable {
            throw Self.missing("did not answer", detail: error.detail ?? error.message)
        }
        let token = String(decoding: response.body, as: UTF8.self)
        guard response.status == 200, !token.isEmpty, token.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
            guard response.status != 200 else {
                throw CredentialError.invalid(Self.service, reason: "its session token is invalid")
            }
            // Other clouds have other services at this address.
            throw Self.missing("answered \(response.status)")
        }
        return token
    }

    private static func missing(_ reason: String, detail: String? = nil) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "There are no S3 credentials: environment and files have none, and the metadata service of an EC2 instance "
                + "\(reason); set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role.",
            detail: detail, isRetryable: true)
    }

    private func get(_ path: String, token: String, client: CredentialClient) async throws -> HTTPClientResponse {
        try await client.send(
            .get, url: "\(endpoint)\(path)", headers: [("X-aws-ec2-metadata-token", token)], to: Self.service,
            secondsMax: secondsMax)
    }

    /// Whether text is a valid role name; another one could address another path.
    private static func isRoleName(_ text: String) -> Bool {
        1...128 ~= text.utf8.count
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_+=,.@-".contains($0)) }
            && !text.allSatisfy { $0 == "." }
    }
}

extension Limits {
    /// Time for one request to the metadata service, as in the AWS tools: it answers in milliseconds, and is missing on
    /// most other machines. `AWS_METADATA_SERVICE_TIMEOUT` changes it.
    static let instanceResponseSecondsMax = 1.0
    /// The most that `AWS_METADATA_SERVICE_TIMEOUT` can set.
    static let instanceResponseSecondsLargest = 60.0
    /// Validity of a session token of the metadata service: used for the requests of one refresh.
    static let instanceTokenSeconds = 300
}
