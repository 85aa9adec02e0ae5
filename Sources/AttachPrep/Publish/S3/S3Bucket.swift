import RichPush

/// A bucket as it is reached: its address, and where requests to it are signed for. Pure.
struct S3Bucket: Sendable, Hashable {
    let location: S3Location
    let region: String
    /// Scheme, host, port, and the path before keys; without a slash at its end.
    let base: String
    /// The endpoint's host, for messages.
    let host: String

    /// - Throws: `request.invalid` for an endpoint, a region or a style that cannot be.
    init(_ settings: S3Settings, _ profile: AWSProfile) throws(AttachPrepError) {
        let environment = settings.environment
        let region =
            settings.region ?? environment.value("AWS_REGION") ?? environment.value("AWS_DEFAULT_REGION")
            ?? profile["region"] ?? Self.standardRegion
        guard Self.isRegion(region) else {
            throw AttachPrepError(
                .requestInvalid, "The S3 region has letters, digits and hyphens, as in eu-west-1; correct --s3-region.")
        }
        let endpoint = try S3Endpoint(
            settings.endpoint ?? Self.endpoint(environment, profile) ?? Self.amazon(region))
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

    /// The address of a key, or of the bucket itself; the keys of a query in order, as they are signed.
    func url(_ key: String?, query: [String: String] = [:]) -> String {
        let pairs = query.map { (PercentEncoding.of($0), PercentEncoding.of($1)) }.sorted { $0.0 < $1.0 }
        let tail = pairs.map { "\($0)=\($1)" }.joined(separator: "&")
        return base + "/" + (key.map(PercentEncoding.ofPath) ?? "") + (tail.isEmpty ? "" : "?\(tail)")
    }

    /// As a region may be written in a message or a signature.
    static func isRegion(_ text: String) -> Bool {
        1...63 ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }

    /// What the AWS tools take, and most other endpoints too.
    private static let standardRegion = "us-east-1"

    private static func endpoint(_ environment: [String: String], _ profile: AWSProfile) -> String? {
        let isIgnored =
            environment.value("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS") ?? profile["ignore_configured_endpoint_urls"]
        if isIgnored?.lowercased() == "true" { return nil }
        return environment.value("AWS_ENDPOINT_URL_S3") ?? environment.value("AWS_ENDPOINT_URL") ?? profile.s3Endpoint
    }

    private static func amazon(_ region: String) -> String {
        "https://s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }
}

/// Where S3 is spoken.
private struct S3Endpoint {
    let scheme: String
    /// Host and port as they stand in an address.
    let authority: String
    /// Without a slash at its end.
    let path: String
    let host: String
    private let isAddress: Bool

    init(_ text: String) throws(AttachPrepError) {
        guard let address = try? WebAddress(text.contains("://") ? text : "https://\(text)"),
            !address.text.contains("?")
        else {
            throw AttachPrepError(
                .requestInvalid,
                "The S3 endpoint is an address such as https://s3.example.com; correct --s3-endpoint or "
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

    /// Whether a bucket can be a part of the host's name. A dot in it would fit no certificate.
    func canCarry(_ bucket: String, isForced: Bool) -> Bool {
        let isLabel = bucket.utf8.count <= 63 && !bucket.contains { $0 == "_" || $0.isUppercase }
        guard isLabel, !isAddress else { return false }
        return isForced || host != "localhost" && !(bucket.contains(".") && scheme == "https")
    }
}
