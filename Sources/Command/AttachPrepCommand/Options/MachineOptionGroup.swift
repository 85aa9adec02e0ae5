import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Glibc
import MediaTypes

/// Options for downloads, concurrency and sandbox, shared by `prepare`, `batch`, `payload` and `inspect`.
struct MachineOptionGroup: ParsableArguments {
    @Flag(help: .named(.httpsOnly)) var httpsOnly = false
    @Flag(help: .named(.allowPrivateNetwork)) var allowPrivateNetwork = false
    @Option(help: .named(.caFile)) var caFile: String?
    @Option(help: .named(.proxy)) var proxy: String?
    @Option(help: .named(.resolve)) var resolve: [String] = []

    @Option(help: ArgumentHelp("Number of sources to process at a time.", valueName: "n"))
    var concurrency = Limits.requestsInFlight

    @Option(
        help: ArgumentHelp(
            "Number of media files to decode or encode at a time (default: number of cores).", valueName: "n"))
    var mediaSlots: Int?

    @Flag(help: .named(.requireSandbox)) var requireSandbox = false
    @Option(name: .customLong(Setting.targetProfile.rawValue), help: .named(.targetProfile))
    var targetProfiles: [String] = []

    @OptionGroup var data: DataOptionGroup

    func validate() throws {
        guard concurrency >= 1 else { throw ValidationError("--concurrency must be at least 1.") }
        guard (mediaSlots ?? 1) >= 1 else { throw ValidationError("--media-slots must be at least 1.") }
        do { _ = try TargetTable.profiles(targetProfiles) } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
        if let caFile, unsafe access(caFile, R_OK) != 0 {
            throw ValidationError("Cannot read the --ca-file \(caFile); check its path and permissions.")
        }
    }

    func configuration(output: String) -> PreparerConfiguration {
        var configuration = PreparerConfiguration(output: output)
        configuration.download = DownloadPolicy(
            httpsOnly: httpsOnly, allowsPrivateNetwork: allowPrivateNetwork, certificateAuthorityFile: caFile,
            proxy: proxy, resolveOverrides: resolve)
        configuration.requestsInFlight = concurrency
        configuration.mediaSlots = mediaSlots ?? MediaSlots.machineDefault
        configuration.allowsLocalFiles = true
        configuration.requiresSandbox = requireSandbox
        // Validated before.
        configuration.targetProfiles = (try? TargetTable.profiles(targetProfiles)) ?? []
        configuration.dataFolder = data.folder
        return configuration
    }
}

/// The data folder, which holds what outlives a command.
struct DataOptionGroup: ParsableArguments {
    @Option(help: .of(.data)) var data: String?

    func validate() throws {
        if data?.isEmpty == true { throw ValidationError("--data is empty; give the path of a folder.") }
    }

    /// Nil if neither the option nor the variable is set and there is no home folder.
    var folder: String? {
        data ?? ProcessInfo.processInfo.environment["ATTACHPREP_DATA"] ?? DefaultDataFolder.path
    }
}
