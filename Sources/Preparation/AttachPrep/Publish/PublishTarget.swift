public import AttachPrepModel
import FoundationEssentials
import Glibc
public import Logging
import MediaTypes
import Synchronization
import Tracing

/// A result that is ready to be published.
struct FinishedResult: Sendable {
    let manifest: Manifest
    /// Contains the files under the names in the manifest.
    let staging: StagingFolder
    /// The name of the result's folder, for targets that store folders; nil uses the manifest's id.
    let folder: String?
    /// When publishing must have ended.
    let deadline: ContinuousClock.Instant

    /// Whether only the files are stored, by content: no folder tells which sealed files belong together, and no
    /// manifest what they are.
    var isSealedForFolder: Bool { manifest.sealed != nil && folder == nil }
}

/// A target to which results are published, each completely or not at all.
protocol PublishTarget: Sendable {
    /// The seconds of a budget that are reserved for publishing.
    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double

    /// The layout of results that are published now.
    var layout: ResultLayout { get }

    /// The URL at which a file is served in a layout; nil if files are not served.
    func url(of file: PublishedFile, in result: String, layout: ResultLayout) -> String?

    /// The URL at which a result's manifest is served; nil if it is not.
    func url(ofManifest result: String) -> String?

    /// Publishes the files, before the manifest makes the result visible.
    ///
    /// - Throws: `output.…` or `publish.…`, `deadline.exceeded`, `cancelled`.
    func publishFiles(_ result: FinishedResult) async throws

    /// Publishes the manifest, which makes the result visible.
    ///
    /// - Throws: The same errors as `publishFiles`.
    func complete(_ result: FinishedResult) async throws

    /// The manifest of a published result; nil if it is missing or incomplete, or if the target cannot be reached.
    func publishedManifest(_ id: String) async -> Manifest?

    /// Whether published results are folders in `--output`.
    var keepsFolders: Bool { get }

    /// Checks whether there are credentials, where the target needs some.
    ///
    /// - Throws: The error with which publishing would fail.
    func checkCredentials() async throws

    /// Checks whether results could be published now.
    ///
    /// - Throws: The error with which publishing would fail.
    func probe() async throws

    /// Ends running work and closes connections.
    func shutdown() async
}

/// Where results are published (`--publish`).
public enum PublishDestination: Sendable {
    /// One folder per result in the output folder.
    case folder
    /// Objects in a bucket.
    case bucket(S3Settings)

    /// - Parameters:
    ///   - text: `file:` or `s3://bucket/prefix`.
    ///   - environment: The variables of the AWS tools.
    /// - Throws: `request.invalid` for anything else.
    public init(_ text: String, environment: [String: String]) throws(AttachPrepError) {
        if text == "file:" {
            self = .folder
        } else if text.lowercased().hasPrefix("s3:") {
            self = .bucket(S3Settings(try S3Location(text), environment: environment))
        } else {
            throw AttachPrepError(
                .requestInvalid, "--publish must be file: (the --output folder) or s3://bucket/prefix.")
        }
    }

    /// Whether results leave this machine.
    public var isRemote: Bool {
        if case .bucket = self { true } else { false }
    }

    /// Checks whether results could be published there now; leaves nothing behind.
    ///
    /// - Throws: The error with which publishing would fail: `publish.…`, or `request.invalid` for invalid settings.
    public func probe(logger: Logger) async throws {
        let target = try target(
            output: FileManager.default.temporaryDirectory.path, baseURL: nil, publishesFolders: true,
            policy: DownloadPolicy(), tracer: nil, blocking: BlockingThread(), logger: logger)
        let result: Result<Void, any Error>
        do { result = .success(try await target.probe()) } catch { result = .failure(error) }
        await target.shutdown()
        try result.get()
    }

    /// - Parameters:
    ///   - output: The folder with the results.
    ///   - baseURL: The URL at which results are served; nil if they are not.
    ///   - publishesFolders: See `PreparerConfiguration.publishesFolders`.
    func target(
        output: String, baseURL: String?, publishesFolders: Bool, policy: DownloadPolicy, tracer: (any Tracer)?,
        blocking: BlockingThread, logger: Logger
    ) throws -> any PublishTarget {
        switch self {
        case .folder:
            FolderTarget(output: output, baseURL: baseURL, publishesFolders: publishesFolders, blocking: blocking)
        case .bucket(let settings):
            try S3Target(
                settings, baseURL: baseURL, policy: policy, blocking: blocking, tracer: tracer, logger: logger)
        }
    }
}

/// The destination as written; it contains no secrets.
extension PublishDestination: CustomStringConvertible {
    public var description: String {
        switch self {
        case .folder: "file:"
        case .bucket(let settings): "\(settings)"
        }
    }
}

/// Publishes results as folders on this machine by renaming the staging folder.
///
/// When the output folder is served, the files are also in `_content` under their digest, as hard links.
struct FolderTarget: PublishTarget {
    let output: String
    /// The URL at which `output` is served.
    let baseURL: String?
    /// Whether the folder has its manifest, and permissions for other users.
    var publishesFolders = true
    let blocking: BlockingThread

    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double {
        min(Limits.publishReserveSeconds, budgetSeconds * Limits.publishReserveShare)
    }

    let layout = ResultLayout.content

    func url(of file: PublishedFile, in result: String, layout: ResultLayout) -> String? {
        baseURL.map { PublicURL.of(file, in: result, layout: layout, below: $0) }
    }

    func url(ofManifest result: String) -> String? {
        baseURL.map { PublicURL.of("\(result)/\(Manifest.fileName)", below: $0) }
    }

    /// Publishes the files by content; those of the result's folder appear with it.
    func publishFiles(_ result: FinishedResult) async throws {
        guard baseURL != nil || result.isSealedForFolder else { return }
        try await blocking.run { try result.staging.publishContent(result.manifest.publishedFiles) }
    }

    // No network is involved, so there is nothing to cancel.
    func complete(_ result: FinishedResult) async throws {
        if result.isSealedForFolder { return }
        guard publishesFolders else { return result.staging.handOver() }
        let name = result.folder ?? result.manifest.id
        try await blocking.run {
            if result.manifest.sealed == nil { try result.staging.write(result.manifest) }
            try result.staging.publish(as: name)
        }
    }

    func publishedManifest(_ id: String) async -> Manifest? {
        let folder = "\(output)/\(id)"
        return try? await blocking.run {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(Manifest.fileName)"),
                let manifest = try? Manifest(json: data)
            else { return nil }
            let files = manifest.publishedFiles
            var paths = files.map { "\(folder)/\($0.name)" }
            if manifest.layout == .content {
                paths.append(contentsOf: files.map { "\(output)/\($0.contentPath)" })
            }
            return paths.allSatisfy { unsafe access($0, R_OK) == 0 } ? manifest : nil
        }
    }

    var keepsFolders: Bool { true }

    func checkCredentials() async throws {}

    /// Does nothing: the first request creates the folder and reports errors.
    func probe() async throws {}

    func shutdown() async {}
}

/// The URLs of a result's files below a base URL. Pure.
enum PublicURL {
    /// For the base `https://media.example/push`: `https://media.example/push/_content/<digest>.jpg`, or in the layout
    /// by id `https://media.example/push/<id>/<file>`.
    static func of(_ file: PublishedFile, in result: String, layout: ResultLayout, below base: String) -> String {
        of(layout == .content ? file.contentPath : "\(result)/\(file.name)", below: base)
    }

    static func of(_ path: String, below base: String) -> String {
        base.hasSuffix("/") ? "\(base)\(path)" : "\(base)/\(path)"
    }
}

/// A publish target that records the result of the last attempt.
final class MonitoredTarget: PublishTarget {
    private let target: any PublishTarget
    private let last = Mutex<PublishStatus?>(nil)

    init(_ target: any PublishTarget) {
        self.target = target
    }

    /// The result of the last attempt or probe; nil before the first has ended.
    var status: PublishStatus? { last.withLock(\.self) }

    func publishFiles(_ result: FinishedResult) async throws {
        try await recordingStatus { try await target.publishFiles(result) }
    }

    func complete(_ result: FinishedResult) async throws {
        try await recordingStatus { try await target.complete(result) }
    }

    func probe() async throws {
        do {
            try await target.probe()
            recordStatus(nil)
        } catch let error as AttachPrepError {
            recordStatus(error)
            throw error
        }
    }

    func checkCredentials() async throws { try await target.checkCredentials() }
    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double { target.reserveSeconds(ofBudget: budgetSeconds) }
    var layout: ResultLayout { target.layout }
    func url(of file: PublishedFile, in result: String, layout: ResultLayout) -> String? {
        target.url(of: file, in: result, layout: layout)
    }
    func url(ofManifest result: String) -> String? { target.url(ofManifest: result) }
    func publishedManifest(_ id: String) async -> Manifest? { await target.publishedManifest(id) }
    var keepsFolders: Bool { target.keepsFolders }
    func shutdown() async { await target.shutdown() }

    private func recordingStatus(_ work: () async throws -> Void) async throws {
        do {
            try await work()
            recordStatus(nil)
        } catch let error as AttachPrepError {
            // A timeout or cancellation of the request does not show the state of the target.
            if [.publishDenied, .publishNotFound, .publishUnavailable].contains(error.code) { recordStatus(error) }
            throw error
        }
    }

    private func recordStatus(_ error: AttachPrepError?) {
        last.withLock { $0 = PublishStatus(date: .now, error: error) }
    }
}

/// The result of the last attempt to publish, or of the last probe.
public struct PublishStatus: Sendable {
    public var date: ContinuousClock.Instant
    /// The error; nil after success.
    public var error: AttachPrepError?

    public init(date: ContinuousClock.Instant, error: AttachPrepError? = nil) {
        self.date = date
        self.error = error
    }
}

extension Limits {
    /// Reserved for hashing and renaming a 50 MB result.
    static let publishReserveSeconds = 0.2
    /// The largest share of a short budget to reserve.
    static let publishReserveShare = 0.1
}
