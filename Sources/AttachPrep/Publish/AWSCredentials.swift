import AttachPrepModel
import Glibc
import RichPush
import Synchronization

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

/// Provides the current credentials. Changed files are read again, because other programs renew temporary credentials
/// in them.
final class AWSCredentialProvider: Sendable {
    private struct CachedProfile {
        var stamps: [FileStamp?]
        var profile: AWSProfile
    }

    private let environment: [String: String]
    private let paths: [String]
    private let cached = Mutex(CachedProfile?.none)

    init(environment: [String: String]) {
        self.environment = environment
        paths = [
            Self.path(environment.value("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials", environment),
            Self.path(environment.value("AWS_CONFIG_FILE") ?? "~/.aws/config", environment),
        ]
    }

    /// The selected profile from both files; a missing file counts as empty.
    var profile: AWSProfile {
        let stamps = paths.map { FileStamp($0) }
        return cached.withLock { cached in
            if let cached, cached.stamps == stamps { return cached.profile }
            let files = paths.map { AWSProfileFile(Self.text(of: $0)) }
            let profile = AWSProfile(
                AWSProfile.name(in: environment).name, credentials: files[0], configuration: files[1])
            cached = CachedProfile(stamps: stamps, profile: profile)
            return profile
        }
    }

    /// - Throws: `publish.denied` when there are none, or only of an unsupported kind.
    func credentials() throws(AttachPrepError) -> AWSCredentials {
        try AWSCredentialChain.credentials(
            environment, profile, isProfileExplicit: AWSProfile.name(in: environment).isExplicit)
    }

    /// The text of a file: empty if unreadable, truncated at `Limits.profileFileBytesMax`.
    private static func text(of path: String) -> String {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < Limits.profileFileBytesMax {
            let count = unsafe chunk.withUnsafeMutableBytes { buffer in
                unsafe read(descriptor, buffer.baseAddress, buffer.count)
            }
            guard count > 0 else { break }
            // Bounded: array concatenation.
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func path(_ written: String, _ environment: [String: String]) -> String {
        guard written.hasPrefix("~/"), let home = environment.value("HOME") else { return written }
        // Bounded: string concatenation.
        return home + written.dropFirst()
    }
}

/// Finds credentials in the order of the AWS tools. Pure.
///
/// The order is: environment, then the profile's role, single sign-on, keys in the credentials file, program, and keys
/// in the configuration. Sources that need another service or program (roles, single sign-on, programs, the machine)
/// are unsupported and are an error instead of being skipped: a later key could write to the wrong bucket.
/// <https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>
enum AWSCredentialChain {
    /// - Throws: `publish.denied` for missing or unsupported credentials.
    static func credentials(_ environment: [String: String], _ profile: AWSProfile, isProfileExplicit: Bool)
        throws(AttachPrepError) -> AWSCredentials
    {
        if let keys = try keys(
            of: environment, named: ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", ["AWS_SESSION_TOKEN"]),
            from: "the environment")
        {
            return keys
        }
        if profile["role_arn"] != nil { throw unsupported("an assumed role", by: profile) }
        if environment.value("AWS_WEB_IDENTITY_TOKEN_FILE") != nil {
            throw unsupported("a web identity (AWS_WEB_IDENTITY_TOKEN_FILE)", by: nil)
        }
        if profile["sso_session"] != nil || profile["sso_start_url"] != nil {
            throw unsupported("single sign-on", by: profile)
        }
        if let keys = try keys(of: profile.credentials, in: "the credentials file", profile) { return keys }
        if profile["credential_process"] != nil { throw unsupported("a program (credential_process)", by: profile) }
        if let keys = try keys(of: profile.configuration, in: "the configuration", profile) { return keys }
        for name in ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"]
        where environment.value(name) != nil {
            throw unsupported("the container's role (\(name))", by: nil)
        }
        throw isProfileExplicit && profile.credentials == nil && profile.configuration == nil
            ? unknown(profile.name) : missing(profile.name)
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

    private static func unsupported(_ what: String, by profile: AWSProfile?) -> AttachPrepError {
        let who = profile.map { "The profile \"\($0.name)\"" } ?? "The environment"
        return AttachPrepError(
            .publishDenied,
            "\(who) requires \(what), which attachprep does not support; provide keys, such as those that "
                + "`aws configure export-credentials` prints.")
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
                + "profile \"\(name)\" of the credentials file. Instance roles are not supported.")
    }
}

/// A named profile with its sections of both files. Pure.
struct AWSProfile: Sendable, Hashable {
    let name: String
    /// Its section of the credentials file; nil without one.
    let credentials: [String: String]?
    /// Its section of the configuration; nil without one.
    let configuration: [String: String]?
    /// The services section that it refers to.
    private let services: [String: String]

    init(_ name: String, credentials: AWSProfileFile, configuration: AWSProfileFile) {
        self.name = name
        self.credentials = credentials.sections[name]
        let plain = name == "default" ? configuration.sections["default"] : nil
        let own = configuration.sections["profile \(name)"] ?? plain
        self.configuration = own
        services = own?["services"].flatMap { configuration.sections["services \($0)"] } ?? [:]
    }

    /// The selected profile: `AWS_PROFILE`, else `AWS_DEFAULT_PROFILE`, else "default".
    static func name(in environment: [String: String]) -> (name: String, isExplicit: Bool) {
        guard let asked = environment.value("AWS_PROFILE") ?? environment.value("AWS_DEFAULT_PROFILE") else {
            return ("default", false)
        }
        return (asked, true)
    }

    /// The value of a key in the credentials file, else in the configuration; an empty value counts as missing.
    subscript(_ key: String) -> String? { credentials?.value(key) ?? configuration?.value(key) }

    /// The S3 endpoint URL of this profile.
    var s3Endpoint: String? { services.value("s3.endpoint_url") ?? self["endpoint_url"] }
}

extension [String: String] {
    /// The value of a variable or key; an empty value counts as missing.
    func value(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}

/// Parses `~/.aws/credentials` and `~/.aws/config` like the AWS tools: sections of keys and values. Pure.
///
/// Indented keys below a key without a value are nested; their names are joined, as in "s3.addressing_style".
/// <https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html>
struct AWSProfileFile: Sendable, Hashable {
    /// Sections by name; names in the configuration keep their "profile " prefix. Sections with the same name are
    /// merged; later keys override earlier ones.
    private(set) var sections: [String: [String: String]] = [:]

    /// Parses a file and ignores invalid lines.
    init(_ text: String) {
        var section: String?
        var parent: String?
        // A byte order mark must not become part of the first line.
        let unmarked = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        for line in unmarked.split(whereSeparator: \.isNewline) {
            let words = line.trimming(\.isWhitespace)
            if words.isEmpty || words.first == "#" || words.first == ";" { continue }
            if words.first == "[" {
                section = Self.name(words)
                if let section { sections[section, default: [:]] = sections[section] ?? [:] }
                parent = nil
                continue
            }
            guard let section, let (key, value) = Self.pair(words) else { continue }
            let isNested = line.first?.isWhitespace == true
            // Below a key with a value, an indented line continues the value; no key that is used has such values.
            if isNested, parent == nil { continue }
            let name = isNested ? "\(parent ?? "").\(key)" : key
            sections[section]?[name] = value
            if !isNested { parent = value.isEmpty ? key : nil }
        }
    }

    /// The name in a header: "profile x" for "[ profile  x ]"; nil without a closing bracket.
    private static func name(_ words: Substring) -> String? {
        guard let end = words.firstIndex(of: "]") else { return nil }
        let parts = words[..<end].dropFirst().split(whereSeparator: \.isWhitespace)
        return parts.map { $0.trimming { "\"'".contains($0) } }.joined(separator: " ")
    }

    private static func pair(_ words: Substring) -> (key: String, value: String)? {
        guard let equals = words.firstIndex(of: "=") else { return nil }
        let key = words[..<equals].trimming(\.isWhitespace).lowercased()
        let value = withoutComment(words[words.index(after: equals)...]).trimming(\.isWhitespace)
        return key.isEmpty ? nil : (key, String(value))
    }

    /// Removes a trailing comment, which must follow whitespace, since secrets may contain "#" or ";".
    private static func withoutComment(_ value: Substring) -> Substring {
        var isAfterSpace = true
        for index in value.indices {
            if isAfterSpace, value[index] == "#" || value[index] == ";" { return value[..<index] }
            isAfterSpace = value[index].isWhitespace
        }
        return value
    }
}

extension Substring {
    /// Removes matching characters at both ends.
    fileprivate func trimming(_ isMeant: (Character) -> Bool) -> Substring {
        var rest = drop(while: isMeant)
        while let last = rest.last, isMeant(last) { rest.removeLast() }
        return rest
    }
}

extension Limits {
    /// Bytes of AWS credentials and profile files, which have some KB.
    static let profileFileBytesMax = 1_000_000
}
