import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What holds for all requests of one preparer.
public struct PreparerConfiguration: Sendable {
    /// The folder in which a folder a request appears; made when it is not there.
    public var output: String
    /// Where downloads may go.
    public var download: DownloadPolicy
    /// Downloads at a time.
    public var requestsInFlight: Int
    /// How many requests will come soon: as many media children start at once, up to one more than media slots.
    public var requestsExpected: Int
    /// Renders at a time.
    public var mediaSlots: Int
    /// How far media children stand behind this process in line for the processor, 0 to 19: with some, a service
    /// answers at once while every core decodes.
    public var mediaNiceness: Int
    /// Where results appear.
    public var publish: PublishPlace
    /// Where what is published is served: `https://media.example/push` makes `https://media.example/push/<id>/<file>`.
    public var baseURL: String?
    /// Whether paths and file URLs are sources: for a command line, never for a service.
    public var allowsLocalFiles: Bool
    /// Whether nothing is worked on where the media process cannot be locked down as it should.
    public var requiresSandbox: Bool
    /// Where what must outlive the process is kept, quarantine among it; nil keeps it in memory.
    public var stateFolder: String?
    /// The path of `attachprep-media`; nil looks beside the running executable.
    public var mediaExecutable: String?

    /// Where nothing is delivered, as by `inspect`: the system's folder for temporary files.
    public static var scratchFolder: String { FileManager.default.temporaryDirectory.path }

    public init(output: String) {
        self.output = output
        download = DownloadPolicy()
        publish = .folder
        requestsInFlight = Limits.requestsInFlight
        requestsExpected = 1
        mediaSlots = MediaSlots.machineDefault
        mediaNiceness = 0
        allowsLocalFiles = false
        requiresSandbox = false
        stateFolder = StateFolder.defaultPath
    }
}
