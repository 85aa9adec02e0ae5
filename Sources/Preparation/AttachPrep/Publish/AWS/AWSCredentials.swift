import AttachPrepModel
import MediaTypes

/// Credentials that sign S3 requests: access key, secret key, and the session token of temporary credentials.
struct AWSCredentials: Sendable, Hashable {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    /// - Parameter origin: Where they were found, for the message.
    /// - Throws: `publish.denied` for text that cannot be sent in a header.
    init(accessKeyID: String, secretAccessKey: String, sessionToken: String?, from origin: String)
        throws(AttachPrepError)
    {
        let texts = [accessKeyID, secretAccessKey, sessionToken ?? ""]
        guard texts.allSatisfy({ $0.utf8.count <= Limits.credentialTextBytesMax }) else {
            throw AttachPrepError(
                .publishDenied,
                "The S3 credentials from \(origin) exceed \(Limits.credentialTextBytesMax.grouped) bytes; check them "
                    + "there.")
        }
        guard texts.allSatisfy({ $0.utf8.allSatisfy { 0x21...0x7e ~= $0 } }) else {
            throw AttachPrepError(
                .publishDenied,
                "The S3 credentials from \(origin) contain a space or an invalid character; enter them again.")
        }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

/// Keeps the secrets out of descriptions and dumps.
extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    var description: String { "\(accessKeyID)\(sessionToken == nil ? "" : ", temporary")" }
    var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}

/// Where credentials come from: known keys, or a source that issues temporary ones.
enum AWSCredentialSource: Sendable, Hashable {
    case keys(AWSCredentials)
    case webIdentity(WebIdentityRole)
    case process(CredentialProcess)
    case container(ContainerRole)
    case instance(InstanceRole)

    /// For log lines.
    var name: String {
        switch self {
        case .keys: "keys"
        case .webIdentity: "web identity"
        case .process: "credential_process"
        case .container: "container role"
        case .instance: "instance role"
        }
    }
}

/// Finds the source of credentials in the order of the AWS tools. Pure.
///
/// The order is: environment, then the profile's role, web identity, single sign-on, keys in the credentials file,
/// program, keys in the configuration, and the roles of the container and of the machine. Assumed roles and single
/// sign-on are unsupported and are an error instead of being skipped: a later key could write to the wrong bucket.
/// <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>
enum AWSCredentialChain {
    /// - Throws: `publish.denied` for missing, incomplete or unsupported credentials.
    static func source(_ environment: [String: String], profile: AWSProfile, isProfileExplicit: Bool)
        throws(AttachPrepError) -> AWSCredentialSource
    {
        if let keys = try keys(
            of: environment, named: ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", ["AWS_SESSION_TOKEN"]),
            from: "the environment")
        {
            return .keys(keys)
        }
        if profile["role_arn"] != nil, profile["web_identity_token_file"] == nil {
            throw unsupported("an assumed role", by: profile)
        }
        if let role = try WebIdentityRole(environment, profile) { return .webIdentity(role) }
        if profile["sso_session"] != nil || profile["sso_start_url"] != nil {
            throw unsupported("single sign-on", by: profile)
        }
        if let keys = try keys(of: profile.credentials, in: "the credentials file", profile) { return .keys(keys) }
        if let command = profile["credential_process"] {
            return .process(CredentialProcess(command: command, profile: profile.name))
        }
        if let keys = try keys(of: profile.configuration, in: "the configuration", profile) { return .keys(keys) }
        if isProfileExplicit, profile.credentials == nil, profile.configuration == nil { throw unknown(profile.name) }
        if let role = try ContainerRole(environment) { return .container(role) }
        if let role = try InstanceRole(environment, profile) { return .instance(role) }
        throw missing(profile.name)
    }

    private static func keys(of section: [String: String]?, in file: String, _ profile: AWSProfile)
        throws(AttachPrepError) -> AWSCredentials?
    {
        let names = ("aws_access_key_id", "aws_secret_access_key", ["aws_session_token", "aws_security_token"])
        return try keys(of: section ?? [:], named: names, from: "the profile \"\(profile.name)\" of \(file)")
    }

    private static func keys(
        of values: [String: String], named names: (id: String, secret: String, tokens: [String]), from origin: String
    ) throws(AttachPrepError) -> AWSCredentials? {
        let (id, secret) = (values.value(names.id), values.value(names.secret))
        guard id != nil || secret != nil else { return nil }
        guard let id, let secret else {
            throw AttachPrepError(
                .publishDenied,
                "The S3 credentials in \(origin) are incomplete; set both \(names.id) and \(names.secret).")
        }
        return try AWSCredentials(
            accessKeyID: id, secretAccessKey: secret,
            sessionToken: names.tokens.lazy.compactMap { values.value($0) }.first, from: origin)
    }

    private static func unsupported(_ what: String, by profile: AWSProfile) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "The profile \"\(profile.name)\" requires \(what), which attachprep does not support; provide keys, such "
                + "as those that `aws configure export-credentials` prints.")
    }

    private static func unknown(_ name: String) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "There is no profile \"\(name)\" in the credentials file or the configuration; correct AWS_PROFILE.")
    }

    private static func missing(_ name: String) -> AttachPrepError {
        AttachPrepError(
            .publishDenied,
            "There are no S3 credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them to the "
                + "profile \"\(name)\" of the credentials file.")
    }
}

extension Limits {
    /// Bytes of a key or token: AWS session tokens have some 1,000 and may grow to 4,096.
    static let credentialTextBytesMax = 8_192
}
