import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Logging
import MediaEngine
import MediaTypes
import PostgresDatabase
import SafeArithmetic

/// `attachprep doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check libraries, formats and sandbox, and a bucket or queue if given.")

    @OptionGroup(title: "Results") var report: ReportOptionGroup
    @OptionGroup(title: "Publish") var publish: PublishOptionGroup
    @OptionGroup(title: "Queue in PostgreSQL") var queue: QueueOptionGroup

    func run() async throws {
        let diagnostics = await Diagnostics.run(
            publishing: try publish.target(), queue: try queue.database(), verbose: report.verbose)
        switch report.format {
        case .json: StandardStreams.result((try? JSONEncoder.singleLine.text(diagnostics)) ?? "")
        case .text: StandardStreams.result(diagnostics.lines)
        }
        if !diagnostics.isHealthy { throw ExitCodeError.someRejected }
    }
}

struct Diagnostics: Codable, Sendable {
    let version: String
    /// The path of `attachprep-media`; nil if it was not found.
    let mediaExecutable: String?
    let libraries: [EngineDescription.Library]
    let abilities: [EngineDescription.Ability]
    let sandboxChecks: [SandboxCheckResult]
    /// Whether results can be published; nil without `--publish`.
    private(set) var publish: PublishTargetCheck?
    /// The state of the queue's database; nil without `--queue`.
    private(set) var queue: QueueCheck?
    /// The problems found, each with its remedy.
    private(set) var faults: [String]

    /// `--format json` prints these names, so they do not change.
    private enum CodingKeys: String, CodingKey {
        case version, mediaExecutable, libraries, abilities, publish, queue, faults
        case sandboxChecks = "walls"
    }

    var isHealthy: Bool { faults.isEmpty }

    /// Starts a media process to list its libraries and formats, checks the sandbox, and probes bucket and queue.
    static func run(
        publishing target: PublishDestination, queue: QueueDatabase?, verbose: Bool
    ) async -> Diagnostics {
        let logger = Logger.standardError(verbose ? .debug : .error)
        var diagnostics = await machine(logger)
        if target.isRemote {
            let finding = await PublishTargetCheck(trying: target, logger)
            diagnostics.publish = finding
            diagnostics.faults += finding.fault.map { [$0] } ?? []
        }
        if let queue {
            let finding = await QueueCheck(asking: queue, logger)
            diagnostics.queue = finding
            diagnostics.faults += finding.faults
        }
        return diagnostics
    }

    private static func machine(_ logger: Logger) async -> Diagnostics {
        let download = EngineDescription.Library(name: "libcurl", version: DownloadLibrary.version)
        do {
            let path = try MediaExecutable.locate()
            let preparer = try AttachmentPreparer(
                PreparerConfiguration(output: PreparerConfiguration.scratchFolder), logger: logger)
            let description = try await preparer.describe()
            await preparer.shutdown()
            let sandboxChecks = try await AttachmentPreparer.checkSandbox(mediaExecutable: path)
            return diagnostics(path: path, download: download, description: description, sandboxChecks: sandboxChecks)
        } catch {
            let known = sentence(error)
            return Diagnostics(
                version: Version.text, mediaExecutable: try? MediaExecutable.locate(), libraries: [download],
                abilities: [], sandboxChecks: [],
                faults: [
                    "\(known) If libraries are missing, install them with apt-get install libvips42 libavformat59 "
                        + "libavcodec59 libswscale6 libmagic1."
                ])
        }
    }

    private static func sentence(_ error: any Error) -> String {
        guard let known = error as? AttachPrepError else { return "\(error)" }
        return known.code == .deadlineExceeded
            ? "The media process did not answer within \(Int(Limits.mediaProcessStartSecondsMax)) s." : known.message
    }

    private static func diagnostics(
        path: String, download: EngineDescription.Library, description: EngineDescription,
        sandboxChecks: [SandboxCheckResult]
    ) -> Diagnostics {
        let missing = description.abilities.filter { !$0.isAvailable }.map {
            "Cannot \($0.name); run apt-get install \($0.package)."
        }
        let open = sandboxChecks.filter { !$0.isBlocked }.map {
            "Sandbox not effective: the media process can \($0.attempt.rawValue): \($0.explanation)."
        }
        return Diagnostics(
            version: Version.text, mediaExecutable: path, libraries: [download] + description.libraries,
            abilities: description.abilities, sandboxChecks: sandboxChecks, faults: missing + open)
    }

    var lines: [StyledText] {
        var lines = [StyledText(version), StyledText(), StyledText("media process  ") + executableText]
        lines += libraries.map { StyledText(TerminalText.column($0.name, width: 15)) + StyledText($0.version, .dim) }
        lines.append(StyledText())
        lines += abilities.map { StyledText.answer($0.isAvailable) + "  \($0.name)" }
        lines.append(StyledText())
        if !sandboxChecks.isEmpty {
            lines += [StyledText("Sandbox checks:")] + sandboxChecks.map(Self.line) + [StyledText()]
        }
        if let publish { lines += [StyledText.answer(publish.isReady) + "  publish to the bucket", StyledText()] }
        if let queue { lines += queue.lines + [StyledText()] }
        return lines
            + (isHealthy ? [StyledText("No problems found.", .good)] : faults.map { StyledText($0, .bad) })
    }

    private var executableText: StyledText {
        mediaExecutable.map { StyledText($0, .dim) } ?? StyledText("not found", .bad)
    }

    private static func line(_ finding: SandboxCheckResult) -> StyledText {
        let columns =
            TerminalText.column(finding.layer.rawValue, width: 18)
            + TerminalText.column(finding.attempt.rawValue, width: 24)
        let status = finding.isBlocked ? StyledText("blocked", .good) : StyledText("OPEN   ", .bad)
        return status + "  \(columns) " + StyledText(finding.explanation, .dim)
    }
}

/// Whether results can be published to the bucket.
struct PublishTargetCheck: Codable, Sendable {
    let isReady: Bool
    /// The problem with its remedy; nil if there is none.
    @Nullable private(set) var fault: String?

    /// Starts a multipart upload and aborts it.
    init(trying target: PublishDestination, _ logger: Logger) async {
        do {
            try await target.probe(logger: logger)
            isReady = true
        } catch {
            logger.debug("publish probe failed", metadata: ["error": "\(error)"])
            isReady = false
            fault = (error as? AttachPrepError)?.message ?? "\(error)"
        }
    }
}
