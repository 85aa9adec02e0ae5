import AttachPrepModel
import Linux
import MediaTypes
import Synchronization

/// Reads the selected profile from `~/.aws/credentials` and `~/.aws/config`, and again when a file has changed, because
/// other programs renew temporary credentials in them.
final class AWSProfileReader: Sendable {
    private struct CachedProfile {
        var stamps: [FileStamp?]
        var profile: AWSProfile
    }

    let environment: [String: String]
    private let paths: [String]
    private let cached = Mutex(CachedProfile?.none)

    init(environment: [String: String]) {
        self.environment = environment
        paths = [
            Self.path(
                environment.value("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials", environment: environment),
            Self.path(environment.value("AWS_CONFIG_FILE") ?? "~/.aws/config", environment: environment),
        ]
    }

    /// The selected profile from both files; a missing file counts as empty.
    var profile: AWSProfile {
        let stamps = paths.map { FileStamp($0) }
        return cached.withLock { cached in
            if let cached, cached.stamps == stamps { return cached.profile }
            let files = paths.map {
                AWSProfileFile((try? SmallFile.text(of: $0, bytesMax: Limits.profileFileBytesMax)) ?? "")
            }
            let profile = AWSProfile(
                AWSProfile.name(in: environment).name, credentials: files[0], configuration: files[1])
            cached = CachedProfile(stamps: stamps, profile: profile)
            return profile
        }
    }

    /// The source of credentials that environment and profile select now.
    ///
    /// - Throws: `publish.denied` when there is none, or an unsupported one.
    func source() throws(AttachPrepError) -> AWSCredentialSource {
        try AWSCredentialChain.source(
            environment, profile: profile, isProfileExplicit: AWSProfile.name(in: environment).isExplicit)
    }

    private static func path(_ written: String, environment: [String: String]) -> String {
        guard written.hasPrefix("~/"), let home = environment.value("HOME") else { return written }
        return home + written.dropFirst()
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
        guard let requested = environment.value("AWS_PROFILE") ?? environment.value("AWS_DEFAULT_PROFILE") else {
            return ("default", false)
        }
        return (requested, true)
    }

    /// The value of a key in the credentials file, else in the configuration; an empty value counts as missing.
    subscript(_ key: String) -> String? { credentials?.value(key) ?? configuration?.value(key) }

    /// The endpoint URL that this profile sets for a service, such as "s3".
    func endpoint(of service: String) -> String? {
        services.value("\(service).endpoint_url") ?? self["endpoint_url"]
    }
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
            let words = line.trimmingWhitespace
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
        let key = words[..<equals].trimmingWhitespace.lowercased()
        let value = withoutComment(words[words.index(after: equals)...]).trimmingWhitespace
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

extension Limits {
    /// Bytes of AWS credentials and profile files, which have some KB.
    static let profileFileBytesMax = 1_000_000
}
