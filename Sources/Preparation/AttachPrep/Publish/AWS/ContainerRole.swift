import AttachPrepModel
import FoundationEssentials
import Linux
import MediaTypes

/// The role of a container on ECS, or of a pod with EKS Pod Identity.
///
/// <https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html>
struct ContainerRole: Sendable, Hashable {
    /// The URL of the credentials.
    let url: String
    private let host: String

    /// Nil when the environment has no URI of credentials.
    ///
    /// - Throws: `publish.denied` for an invalid URI, or for one to which a token must not be sent.
    init?(_ environment: [String: String]) throws(AttachPrepError) {
        let name: String
        if let path = environment.value("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            name = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"
            guard path.hasPrefix("/") else { throw Self.invalid("\(name) must begin with /") }
            url = "http://169.254.170.2\(path)"
        } else if let full = environment.value("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            (name, url) = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", full)
        } else {
            return nil
        }
        guard let address = try? WebAddress(url) else { throw Self.invalid("\(name) is not an http or https URL") }
        guard address.origin.hasPrefix("https:") || Self.isTrusted(address) else {
            throw Self.invalid(
                "\(name) has the host \(address.host), to which a token must not be sent over http; use https, a "
                    + "loopback address, 169.254.170.2, 169.254.170.23 or fd00:ec2::23")
        }
        host = address.host
    }

    /// - Throws: `publish.denied` for an unusable token or response, `publish.unavailable`.
    func credentials(_ client: CredentialClient) async throws -> IssuedCredentials {
        let service = "the container's credential service \(host)"
        var headers: [(name: String, value: String)] = [("Accept", "application/json")]
        if let token = try Self.token(client.environment) { headers.append(("Authorization", token)) }
        let response = try await client.send(
            .get, url: url, headers: headers, to: service, secondsMax: Limits.credentialResponseSecondsMax)
        guard response.status == 200 else {
            let document = try? CredentialDocument(response.body, from: service)
            throw CredentialError.status(response, code: document?.code, of: service)
        }
        return try CredentialDocument(response.body, from: service).credentials(from: service)
    }

    /// The value of `Authorization`; nil without one. Its file takes precedence, and is read again for each request.
    private static func token(_ environment: [String: String]) throws(AttachPrepError) -> String? {
        var token = environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if let file = environment.value("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            // Editors and `echo` end a file with a line break, which does not count for the limit.
            let bytesMax = Limits.containerTokenBytesMax + 2
            let text: String
            do { text = try SmallFile.text(of: file, bytesMax: bytesMax) } catch {
                throw invalid("the token file \(file) \(error.reason(bytesMax: Limits.containerTokenBytesMax))")
            }
            token = text.last?.isNewline == true ? String(text.dropLast()) : text
        }
        guard let token else { return nil }
        guard token.utf8.count <= Limits.containerTokenBytesMax, token.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else {
            throw invalid(
                "the authorization token has an invalid character or exceeds "
                    + "\(Limits.containerTokenBytesMax.grouped) bytes")
        }
        return token.isEmpty ? nil : token
    }

    /// Whether credentials may come over http, without TLS: from this machine or the addresses of ECS and EKS, as in
    /// the AWS SDKs.
    private static func isTrusted(_ address: WebAddress) -> Bool {
        guard let literal = address.literal else { return address.host.lowercased() == "localhost" }
        if case .v4(let number) = literal, number >> 24 == 127 { return true }
        return ["::1", "169.254.170.2", "169.254.170.23", "fd00:ec2::23"].contains { IPAddress($0) == literal }
    }

    private static func invalid(_ reason: String) -> AttachPrepError {
        CredentialError.invalid("the container's role", reason: reason)
    }
}

extension Limits {
    /// Bytes of a container's authorization token: the service account token of a pod has some 1,200.
    static let containerTokenBytesMax = 16_384
}
