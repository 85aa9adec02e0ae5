import ArgumentParser
import AttachPrep
import Glibc
import RichPush

/// Where downloads may go and how much happens at once: shared by `prepare`, `batch` and `inspect`.
struct MachineOptionGroup: ParsableArguments {
    @Flag(help: "Refuse http, on redirects too.")
    var httpsOnly = false

    @Flag(help: "Let sources lie on loopback, private and reserved addresses.")
    var allowPrivateNetwork = false

    @Option(help: ArgumentHelp("Trust the certificates of this PEM file.", valueName: "file"))
    var caFile: String?

    @Option(help: ArgumentHelp("Fetch through this proxy, which then checks the addresses.", valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("Resolve a name to an address, as curl does.", valueName: "host:port:address"))
    var resolve: [String] = []

    @Option(help: ArgumentHelp("Requests in flight.", valueName: "n"))
    var concurrency = Limits.requestsInFlight

    @Option(help: ArgumentHelp("Media worked on at a time (default: the cores).", valueName: "n"))
    var mediaSlots: Int?

    @Flag(help: "Refuse to work where the media process cannot be locked down.")
    var requireSandbox = false

    @OptionGroup var state: StateOptionGroup

    func validate() throws {
        guard concurrency >= 1 else { throw ValidationError("--concurrency is at least 1.") }
        guard (mediaSlots ?? 1) >= 1 else { throw ValidationError("--media-slots is at least 1.") }
        if let caFile, unsafe access(caFile, R_OK) != 0 {
            throw ValidationError("The --ca-file \(caFile) cannot be read; check its name and permissions.")
        }
    }

    /// The configuration these options make.
    func configuration(output: String) -> PreparerConfiguration {
        var configuration = PreparerConfiguration(output: output)
        configuration.download = DownloadPolicy(
            httpsOnly: httpsOnly, allowsPrivateNetwork: allowPrivateNetwork, certificateAuthorityFile: caFile,
            proxy: proxy, resolveOverrides: resolve)
        configuration.requestsInFlight = concurrency
        configuration.mediaSlots = mediaSlots ?? MediaSlots.machineDefault
        configuration.allowsLocalFiles = true
        configuration.requiresSandbox = requireSandbox
        configuration.stateFolder = state.folder
        return configuration
    }
}
