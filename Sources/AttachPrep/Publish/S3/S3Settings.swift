/// What a bucket to publish to is told by: the operator's choice, and the environment that the AWS tools read.
public struct S3Settings: Sendable {
    public var location: S3Location
    /// http or https; nil takes what the environment or the profile says, else Amazon's own.
    public var endpoint: String?
    /// Nil takes what the environment or the profile says, else us-east-1.
    public var region: String?
    /// Whether the bucket stands in the path and not in the host's name; nil takes what the profile says.
    public var usesPathStyle: Bool?
    /// What the files' `Cache-Control` says.
    public var cacheControl: String
    /// Where `AWS_…` is looked up; holds secrets.
    public var environment: [String: String]

    /// An id's files are replaced when its source has changed, so nobody may keep them for ever: an hour outlasts a
    /// campaign.
    public static let standardCacheControl = "public, max-age=3600"

    public init(_ location: S3Location, environment: [String: String]) {
        self.location = location
        self.environment = environment
        cacheControl = Self.standardCacheControl
    }
}

/// The environment is shown nowhere.
extension S3Settings: CustomStringConvertible, CustomReflectable {
    public var description: String { "s3://\(location.bucket)/\(location.prefix)" }
    public var customMirror: Mirror { Mirror(self, children: ["location": location]) }
}
