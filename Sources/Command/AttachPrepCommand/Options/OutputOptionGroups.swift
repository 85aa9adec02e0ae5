import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepPages
import AttachPrepService
import FoundationEssentials
import MediaTypes

/// The format of results: text for people, or JSON.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}

/// Options for the format of results and for logging, shared by several subcommands.
struct ReportOptionGroup: ParsableArguments {
    @Option(help: "Output format: text or json.")
    var format = OutputFormat.text

    @OptionGroup var color: ColorOptionGroup

    @Flag(name: .shortAndLong, help: "Write debug logs to standard error.")
    var verbose = false
}

/// Options for the output folder, shared by `prepare`, `batch` and `payload`.
struct OutputOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp("Output folder; each source gets a subfolder (default: ./prepared).", valueName: "dir"))
    var output: String?

    @Option(
        name: .customLong("base-url"),
        help: ArgumentHelp("Public URL of the output folder or of the published files.", valueName: "url"))
    var baseURL: String?

    @Flag(help: "Skip sources that are already prepared; retry failed ones.")
    var resume = false

    func validate() throws {
        // An empty path would be the root of the file system.
        guard output?.isEmpty != true else { throw ValidationError("--output is empty; give the path of a folder.") }
    }

    /// The folder in which results are created; by default a temporary one if they are published to a bucket.
    func folder(for target: PublishDestination) -> String {
        output ?? (target.isRemote ? PreparerConfiguration.scratchFolder : Self.standardFolder)
    }

    private static let standardFolder = "./prepared"
}

/// Options for the publish target, shared by `prepare`, `batch`, `payload` and `doctor`.
struct PublishOptionGroup: SettingTable {
    static let settings: [Setting] = [.publish, .s3Endpoint, .s3Region, .s3PathStyle, .s3CacheControl, .s3Layout]
    static let table = settings.map { TableFlag($0, help: .named($0)) }

    let given: [String: [String]]

    func validate() throws {
        _ = try target()
    }

    /// The publish target.
    ///
    /// - Throws: `ValidationError` for an invalid target.
    func target() throws -> PublishDestination {
        do {
            return try PublishDestination(flags: flags, environment: ProcessInfo.processInfo.environment)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}

/// The option for the preview page, shared by `prepare` and `payload`.
struct PreviewOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write an HTML preview of each notification on a phone, before and after preparation.",
            valueName: "file"))
    var preview: String?

    func file() throws -> ReportFile? {
        try preview.map { try ReportFile(path: $0, option: "--preview") }
    }
}

/// The option for colored output, shared by all subcommands with text output.
struct ColorOptionGroup: ParsableArguments {
    @Option(
        name: .customLong("color"),
        help: "When to use colors: auto (on a terminal, unless NO_COLOR is set), always or never.")
    var choice = ColorChoice.auto

    /// Sets the color choice of the process-wide streams before the first line is written.
    func validate() {
        StandardStreams.color = choice
    }
}

/// The output file of a page, written atomically.
struct ReportFile: Sendable {
    let path: String

    /// Checks that the path is writable, before a run of possibly hours.
    ///
    /// - Parameter option: the option that set the path, for error messages.
    /// - Throws: `ValidationError` for a path that is not writable.
    init(path: String, option: String) throws {
        self.path = path
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        if path.isEmpty || path.hasSuffix("/") || type == .typeDirectory {
            throw ValidationError("\(option) \"\(path)\" is not a file name; give one such as page.html.")
        }
        let folder = Self.folder(of: path)
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw ValidationError("\(option) cannot write to folder \(folder); check that it exists and is writable.")
        }
    }

    /// Writes the page and prints its path.
    ///
    /// - Throws: `ExitCodeError.someRejected` if it cannot be written.
    func write(_ page: ReportPage) throws {
        do {
            try Data(page.html()).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            StandardStreams.printNote("attachprep: output.not_writable: Cannot write \(path.escapingControls).")
            throw ExitCodeError.someRejected
        }
        StandardStreams.printNote("Page written to \(path.escapingControls).")
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
