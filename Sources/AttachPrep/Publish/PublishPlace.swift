public import Logging
public import RichPush

/// What `--publish` says: where results appear.
public enum PublishPlace: Sendable {
    /// A folder a result, below the output folder.
    case folder
    /// Objects of a bucket.
    case bucket(S3Settings)

    /// - Parameters:
    ///   - text: `file:` or `s3://bucket/prefix`.
    ///   - environment: where the AWS tools' variables are looked up.
    /// - Throws: `request.invalid` for anything else.
    public init(_ text: String, environment: [String: String]) throws(AttachPrepError) {
        if text == "file:" {
            self = .folder
        } else if text.lowercased().hasPrefix("s3:") {
            self = .bucket(S3Settings(try S3Location(text), environment: environment))
        } else {
            throw AttachPrepError(
                .requestInvalid, "--publish is file: (the folder of --output) or s3://bucket/prefix.")
        }
    }

    /// Whether results leave this machine.
    public var isRemote: Bool {
        if case .bucket = self { true } else { false }
    }

    /// Tries whether results could be published there now; leaves nothing behind.
    ///
    /// - Throws: what they would fail with: `publish.…`, or `request.invalid` for settings that cannot be.
    public func probe(logger: Logger) async throws {
        let target = try target(
            PreparerConfiguration(output: PreparerConfiguration.scratchFolder), blocking: BlockingLane(),
            logger: logger)
        let result: Result<Void, any Error>
        do { result = .success(try await target.probe()) } catch { result = .failure(error) }
        await target.shutdown()
        try result.get()
    }

    func target(
        _ configuration: PreparerConfiguration, blocking: BlockingLane, logger: Logger
    ) throws -> any PublishTarget {
        switch self {
        case .folder: FolderTarget(output: configuration.output, baseURL: configuration.baseURL, blocking: blocking)
        case .bucket(let settings):
            try S3Target(
                settings, baseURL: configuration.baseURL, policy: configuration.download, blocking: blocking,
                logger: logger)
        }
    }
}

/// As it is written; nothing of it is secret.
extension PublishPlace: CustomStringConvertible {
    public var description: String {
        switch self {
        case .folder: "file:"
        case .bucket(let settings): "\(settings)"
        }
    }
}
