import FoundationEssentials
package import MediaEngine
package import MediaTypes
public import Tracing

/// The settings of a preparer, which apply to all its requests.
public struct PreparerConfiguration: Sendable {
    /// The output folder, which gets one folder per request; created if missing.
    public var output: String
    /// The network policy of downloads.
    public var download: DownloadPolicy
    /// Host names that resolve whenever the name servers can be reached; none turns the check of them off.
    public var resolverProbes: [String]
    /// The most downloads at a time.
    public var requestsInFlight: Int
    /// The number of requests expected soon: as many media processes start at once, up to `mediaSlots` + 1.
    public var requestsExpected: Int
    /// The most sources that are decoded or encoded at a time.
    public var mediaSlots: Int
    /// The nice value that is added to media processes, 0 to 19: with one above 0, a service stays responsive while
    /// all cores decode.
    public var mediaNiceness: Int
    /// Where results are published.
    public var publish: PublishDestination
    /// The URL at which results are served: `https://media.example/push` gives
    /// `https://media.example/push/<id>/<file>`.
    public var baseURL: String?
    /// Whether the folder of a result has its manifest, and permissions for other users; false when the caller moves
    /// the files elsewhere and stores the manifest, as a service does.
    public var publishesFolders: Bool
    /// The operator's rows of targets, beside those of the product.
    package var targetProfiles: [TargetRendition]
    /// Whether paths and file URLs are accepted as sources; true for a command line, never for a service.
    public var allowsLocalFiles: Bool
    /// Whether requests fail when the media process cannot be sandboxed completely.
    public var requiresSandbox: Bool
    /// The folder for persistent state such as the quarantine; nil keeps state in memory.
    public var dataFolder: String?
    /// The path of `attachprep-media`; nil looks for it beside the running executable.
    public var mediaExecutable: String?
    /// Records a span for each request and its stages; nil records none, and costs nothing.
    public var tracer: (any Tracer)?

    /// The system's folder for temporary files, for commands such as `inspect` that deliver nothing.
    public static var scratchFolder: String { FileManager.default.temporaryDirectory.path }

    public init(output: String) {
        self.output = output
        download = DownloadPolicy()
        resolverProbes = []
        publish = .folder
        publishesFolders = true
        requestsInFlight = Limits.requestsInFlight
        requestsExpected = 1
        mediaSlots = MediaSlots.machineDefault
        mediaNiceness = 0
        targetProfiles = []
        allowsLocalFiles = false
        requiresSandbox = false
        dataFolder = DefaultDataFolder.path
    }
}

extension Limits {
    /// Concurrent requests.
    package static let requestsInFlight = 32
}
