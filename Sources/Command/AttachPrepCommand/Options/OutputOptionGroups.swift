import ArgumentParser
import AttachPrep
import AttachPrepModel
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
struct PublishOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where to write results: file: (the folder of --output) or s3://bucket/prefix.", valueName: "target"))
    var publish = "file:"

    @Option(
        name: .customLong("s3-endpoint"),
        help: ArgumentHelp(
            "S3 endpoint (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; default: Amazon S3).", valueName: "url"))
    var s3Endpoint: String?

    @Option(
        name: .customLong("s3-region"),
        help: ArgumentHelp("S3 region (AWS_REGION, AWS_DEFAULT_REGION; default: us-east-1).", valueName: "region"))
    var s3Region: String?

    @Flag(
        name: .customLong("s3-path-style"),
        help: "Use path-style S3 URLs, with the bucket in the path instead of the host name.")
    var s3PathStyle = false

    @Option(
        name: .customLong("s3-cache-control"),
        help: ArgumentHelp(
            "Cache-Control header of files in the bucket (default: \(ResultLayout.content.cacheControl)).",
            valueName: "text"))
    var s3CacheControl: String?

    @Option(
        name: .customLong("s3-layout"),
        help: "Keys of files in the bucket: content (by digest) or id (in a folder for each result).")
    var s3Layout = ResultLayout.content

    func validate() throws {
        _ = try target()
    }

    /// The publish target.
    ///
    /// - Throws: `ValidationError` for an invalid target.
    func target() throws -> PublishDestination {
        do {
            let target = try PublishDestination(publish, environment: ProcessInfo.processInfo.environment)
            guard case .bucket(var settings) = target else { return target }
            settings.endpoint = s3Endpoint
            settings.region = s3Region
            if s3PathStyle { settings.usesPathStyle = true }
            settings.cacheControl = s3CacheControl
            settings.layout = s3Layout
            return .bucket(settings)
        } catch {
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

/// When text output is colored.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// On a capable terminal, unless `NO_COLOR` is set.
    case auto
    case always
    case never
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
