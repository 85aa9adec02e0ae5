import AttachPrep
import AttachPrepJobs
import Logging
import MediaEngine
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What this machine has and lacks.
struct MachineExamination: Codable, Sendable {
    let version: String
    /// The path of attachprep-media, or nil when it is not found.
    let mediaExecutable: String?
    let libraries: [EngineDescription.Library]
    let abilities: [EngineDescription.Ability]
    /// What became of every attempt to get out of the media process.
    let walls: [WallFinding]
    /// Whether results can be published; nil where nobody asked.
    private(set) var publish: TargetFinding?
    /// How the servers of a queue are; nil where nobody asked.
    private(set) var queue: QueueFinding?
    /// What is wrong, each with its remedy.
    private(set) var faults: [String]

    var isHealthy: Bool { faults.isEmpty }

    /// Looks for the media process, starts it and asks it; and tries whether results could be published, and jobs kept.
    static func run(
        publishing place: PublishPlace, queue servers: QueueServers?, verbose: Bool
    ) async -> MachineExamination {
        var logger = Logger(label: "attachprep") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = verbose ? .debug : .error
        var examination = await machine(logger)
        if place.isRemote {
            let finding = await TargetFinding(trying: place, logger)
            examination.publish = finding
            examination.faults += finding.fault.map { [$0] } ?? []
        }
        if let servers {
            let finding = await QueueFinding(asking: servers, logger)
            examination.queue = finding
            examination.faults += finding.faults
        }
        return examination
    }

    private static func machine(_ logger: Logger) async -> MachineExamination {
        let download = EngineDescription.Library(name: "libcurl", version: DownloadLibrary.version)
        do {
            let path = try MediaExecutable.locate()
            let preparer = try AttachmentPreparer(
                PreparerConfiguration(output: PreparerConfiguration.scratchFolder), logger: logger)
            let description = try await preparer.describe()
            await preparer.shutdown()
            let walls = try await AttachmentPreparer.examineWalls(mediaExecutable: path)
            return MachineExamination(path: path, download: download, description: description, walls: walls)
        } catch {
            let known = sentence(error)
            return MachineExamination(
                version: Version.text, mediaExecutable: try? MediaExecutable.locate(), libraries: [download],
                abilities: [], walls: [],
                faults: [
                    "\(known) The media libraries are Debian's: apt-get install libvips42 libavformat59 libavcodec59 "
                        + "libswscale6 libmagic1."
                ])
        }
    }

    private static func sentence(_ error: any Error) -> String {
        guard let known = error as? AttachPrepError else { return "\(error)" }
        return known.code == .deadlineExceeded
            ? "The media process did not answer within \(Int(Limits.childStartSecondsMax)) s." : known.message
    }

    private init(
        version: String, mediaExecutable: String?, libraries: [EngineDescription.Library],
        abilities: [EngineDescription.Ability], walls: [WallFinding], faults: [String]
    ) {
        self.version = version
        self.mediaExecutable = mediaExecutable
        self.libraries = libraries
        self.abilities = abilities
        self.walls = walls
        self.faults = faults
    }

    private init(
        path: String, download: EngineDescription.Library, description: EngineDescription, walls: [WallFinding]
    ) {
        let missing = description.abilities.filter { !$0.isAvailable }.map {
            "Cannot \($0.name); install \($0.package) (apt-get install \($0.package))."
        }
        let open = walls.filter { !$0.holds }.map {
            "The media process can \($0.attempt.rawValue): \($0.how)."
        }
        self.init(
            version: Version.text, mediaExecutable: path, libraries: [download] + description.libraries,
            abilities: description.abilities, walls: walls, faults: missing + open)
    }

    /// As a person reads it.
    var lines: [StyledText] {
        var lines = [StyledText(version), StyledText(), StyledText("media process  ") + executableText]
        lines += libraries.map { StyledText(TerminalText.column($0.name, 15)) + StyledText($0.version, .dim) }
        lines.append(StyledText())
        lines += abilities.map { StyledText.answer($0.isAvailable) + "  \($0.name)" }
        lines.append(StyledText())
        if !walls.isEmpty {
            lines += [StyledText("The media process tries to get out:")] + walls.map(Self.line) + [StyledText()]
        }
        if let publish { lines += [StyledText.answer(publish.isReady) + "  publish to the bucket", StyledText()] }
        if let queue { lines += queue.lines + [StyledText()] }
        return lines
            + (isHealthy ? [StyledText("Nothing is missing.", .good)] : faults.map { StyledText($0, .bad) })
    }

    private var executableText: StyledText {
        mediaExecutable.map { StyledText($0, .dim) } ?? StyledText("not found", .bad)
    }

    private static func line(_ finding: WallFinding) -> StyledText {
        let columns = TerminalText.column(finding.wall.rawValue, 18) + TerminalText.column(finding.attempt.rawValue, 24)
        let word = finding.holds ? StyledText("holds", .good) : StyledText("OPEN ", .bad)
        return word + "  \(columns) " + StyledText(finding.how, .dim)
    }

    /// One line of JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
