public import AttachPrepModel
import MediaTypes

/// A bucket with its URL, and the region for which requests are signed. Pure.
struct S3Bucket: Sendable, Hashable {
    let location: S3Location
    let region: String
    /// The base URL of keys, without a trailing slash.
    let base: String
    /// The endpoint's host, for messages.
    let host: String

    /// - Throws: `request.invalid` for an invalid endpoint or region.
    init(_ settings: S3Settings, _ profile: AWSProfile) throws(AttachPrepError) {
        let environment = settings.environment
        let region =
            settings.region ?? environment.value("AWS_REGION") ?? environment.value("AWS_DEFAULT_REGION")
            ?? profile["region"] ?? Self.standardRegion
        guard S3Settings.isRegion(region) else {
            throw AttachPrepError(
                .requestInvalid,
                "The S3 region must have only letters, digits and hyphens, as in eu-west-1; correct AWS_REGION, "
                    + "AWS_DEFAULT_REGION or the AWS profile.")
        }
        let endpoint = try S3Endpoint(
            settings.endpoint ?? AWSEndpoint.configured(for: "s3", environment: environment, profile: profile)
                ?? AWSEndpoint.amazon("s3", region: region))
        location = settings.location
        self.region = region
        host = endpoint.host
        let style = settings.usesPathStyle.map { $0 ? "path" : "auto" } ?? profile["s3.addressing_style"] ?? "auto"
        let isInPath = style == "path" || !endpoint.canCarry(settings.location.bucket, isForced: style == "virtual")
        base =
            isInPath
            ? "\(endpoint.scheme)://\(endpoint.authority)\(endpoint.path)/\(settings.location.bucket)"
            : "\(endpoint.scheme)://\(settings.location.bucket).\(endpoint.authority)\(endpoint.path)"
    }

    /// The URL of a key, or of the bucket itself; query keys are sorted, as the signature requires.
    func url(_ key: String?, query: [String: String] = [:]) -> String {
        let pairs = query.map { (PercentEncoding.encoded($0), PercentEncoding.encoded($1)) }.sorted { $0.0 < $1.0 }
        let tail = pairs.map { "\($0)=\($1)" }.joined(separator: "&")
        let path = key.map { PercentEncoding.encoded($0, keeping: "/") } ?? ""
        return "\(base)/\(path)\(tail.isEmpty ? "" : "?\(tail)")"
    }

    /// The default of the AWS tools, which most other endpoints accept too.
    static let standardRegion = "us-east-1"
}

/// The endpoints of AWS services, from environment and profile. Pure.
enum AWSEndpoint {
    /// The configured URL of a service, such as "s3"; nil without one.
    static func configured(for service: String, environment: [String: String], profile: AWSProfile) -> String? {
        let isIgnored =
            environment.value("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") ?? profile["ignore_configured_endpoint_urls"]
        if isIgnored?.lowercased() == "true" { return nil }
        return environment.value("AWS_ENDPOINT_URL_\(service.uppercased())") ?? environment.value("AWS_ENDPOINT_URL")
            ?? profile.endpoint(of: service)
    }

    /// The regional URL of a service on AWS.
    static func amazon(_ service: String, region: String) -> String {
        "https://\(service).\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }
}

/// A parsed S3 endpoint URL.
private struct S3Endpoint {
    let scheme: String
    /// Host and port as written in the URL.
    let authority: String
    /// The path without a trailing slash.
    let path: String
    let host: String
    private let isAddress: Bool

    init(_ text: String) throws(AttachPrepError) {
        guard let address = try? WebAddress(text.contains("://") ? text : "https://\(text)"),
            !address.text.contains("?")
        else {
            throw AttachPrepError(
                .requestInvalid,
                "The S3 endpoint must be a URL such as https://s3.example.com; correct --s3-endpoint or "
                    + "AWS_ENDPOINT_URL_S3.")
        }
        let parts = address.text.split(separator: "://", maxSplits: 1)
        let rest = parts.last ?? ""
        scheme = String(parts.first ?? "https")
        authority = String(rest.prefix { $0 != "/" })
        var path = rest.dropFirst(authority.count)
        while path.last == "/" { path.removeLast() }
        self.path = String(path)
        host = address.host
        isAddress = address.literal != nil
    }

    /// Whether the bucket can be a label of the host name. Wildcard certificates do not cover names with a dot.
    func canCarry(_ bucket: String, isForced: Bool) -> Bool {
        let isLabel = bucket.utf8.count <= 63 && !bucket.contains { $0 == "_" || $0.isUppercase }
        guard isLabel, !isAddress else { return false }
        return isForced || host != "localhost" && !(bucket.contains(".") && scheme == "https")
    }
}

/// The bucket and key prefix of results, from `s3://bucket/prefix`. Nothing in it is percent-decoded.
public struct S3Location: Sendable, Hashable {
    public let bucket: String
    /// The prefix without leading and trailing slashes; empty for the whole bucket.
    public let prefix: String

    /// - Throws: `request.invalid` with the violated rule.
    public init(_ text: String) throws(AttachPrepError) {
        guard text.lowercased().hasPrefix("s3://") else { throw Self.invalid("it must start with s3://") }
        let rest = text.dropFirst("s3://".count)
        let bucket = String(rest.prefix { $0 != "/" })
        guard 3...255 ~= bucket.utf8.count, bucket.utf8.allSatisfy(Self.isOfName) else {
            throw Self.invalid("a bucket name has 3 to 255 letters, digits, dots, hyphens and underscores")
        }
        var prefix = rest.dropFirst(bucket.count)
        while prefix.first == "/" { prefix.removeFirst() }
        while prefix.last == "/" { prefix.removeLast() }
        try Self.check(prefix)
        self.bucket = bucket
        self.prefix = String(prefix)
    }

    /// The key of a path below the prefix.
    func key(_ path: String) -> String { prefix.isEmpty ? path : "\(prefix)/\(path)" }

    private static func check(_ prefix: Substring) throws(AttachPrepError) {
        guard prefix.utf8.count <= Limits.publishPrefixBytesMax else {
            throw invalid("a prefix must not exceed \(Limits.publishPrefixBytesMax) bytes")
        }
        guard prefix.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw invalid("a prefix must not contain control characters")
        }
        let parts = prefix.isEmpty ? [] : prefix.split(separator: "/", omittingEmptySubsequences: false)
        // URL libraries and proxies normalize such paths, so that another key would be signed or served.
        guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw invalid("no part of a prefix may be empty, . or ..")
        }
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: ".-_".utf8.contains(byte)
        }
    }

    private static func invalid(_ rule: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "The S3 location is not of the form s3://bucket/prefix: \(rule).")
    }
}

/// Settings for publishing to a bucket: the operator's options, and the environment for the variables of the AWS tools.
public struct S3Settings: Sendable {
    public var location: S3Location
    /// An http or https URL; nil uses the environment or the profile, else Amazon S3.
    public var endpoint: String?
    /// Nil uses the environment or the profile, else us-east-1.
    public var region: String?
    /// Whether URLs have the bucket in the path instead of the host name; nil uses the profile.
    public var usesPathStyle: Bool?
    /// The `Cache-Control` of the files; nil for the default of the layout.
    public var cacheControl: String?
    public var layout: ResultLayout
    /// The environment with the `AWS_…` variables; contains secrets.
    public var environment: [String: String]

    public init(_ location: S3Location, environment: [String: String]) {
        self.location = location
        self.environment = environment
        layout = .content
    }

    /// Whether text is a valid region: 1 to 63 letters, digits and hyphens.
    package static func isRegion(_ text: String) -> Bool {
        1...63 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}

extension ResultLayout {
    /// The default `Cache-Control` of files in a bucket. By id, files are replaced when their source has changed, so
    /// they are cached for an hour, which outlasts a campaign.
    public var cacheControl: String {
        switch self {
        case .content: "public, max-age=31536000, immutable"
        case .id: "public, max-age=3600"
        }
    }
}

/// Keeps the environment out of descriptions and dumps.
extension S3Settings: CustomStringConvertible, CustomReflectable {
    public var description: String { "s3://\(location.bucket)/\(location.prefix)" }
    public var customMirror: Mirror { Mirror(self, children: ["location": location]) }
}

extension Limits {
    /// Bytes of a prefix: a key has at most 1,024; id and file name take 160 of them.
    static let publishPrefixBytesMax = 800
}
