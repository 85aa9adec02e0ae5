import ArgumentParser
import AttachPrepJobs
import AttachPrepService
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the jobs are: a running service, the servers of a queue, or a data folder.
struct DeskOptionGroup: ParsableArguments {
    @Option(help: "text for people, json for programs.") var format = OutputFormat.text
    @OptionGroup var colour: ColourOptionGroup

    @Option(help: ArgumentHelp("A running service (ATTACHPREP_URL), as http://127.0.0.1:8080.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("A file with the service's token (or ATTACHPREP_TOKEN).", valueName: "file"))
    var tokenFile: String?

    @OptionGroup var state: StateOptionGroup
    @OptionGroup(title: "Queue on NATS servers") var queue: QueueOptionGroup

    private func open() async throws -> any JobDesk {
        let environment = ProcessInfo.processInfo.environment
        do {
            if let url { return try ServiceDesk(url: url, token: try token()) }
            if let servers = try queue.servers() {
                return try await Self.opened { try await StoreDesk(servers: servers) }
            }
            if let url = environment["ATTACHPREP_URL"] { return try ServiceDesk(url: url, token: try token()) }
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
        guard let folder = state.folder else {
            throw ValidationError("There is no home folder to look for jobs in; give --state or --url.")
        }
        return try await Self.opened { try await StoreDesk(folder: folder) }
    }

    private static func opened(_ open: () async throws -> any JobDesk) async throws -> any JobDesk {
        do {
            return try await open()
        } catch {
            tell(error)
            throw CommandEnd.someRejected
        }
    }

    private func token() throws -> String? {
        guard let tokenFile else { return ProcessInfo.processInfo.environment["ATTACHPREP_TOKEN"] }
        guard let data = FileManager.default.contents(atPath: tokenFile) else {
            throw ValidationError("The --token-file \(tokenFile) cannot be read; check its name and permissions.")
        }
        let lines = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline)
        return lines.map { $0.filter { !$0.isWhitespace } }.first { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    /// Does something with jobs; what is wrong is said, and false or an error ends the command with 1.
    func use(_ work: (any JobDesk, OutputFormat) async throws -> Bool) async throws {
        try await Interruption.cleaningUp(TemporaryDataFolder.removeAll) {
            let desk = try await open()
            var isFine = false
            do {
                isFine = try await work(desk, format)
            } catch {
                Self.tell(error)
            }
            await desk.close()
            guard isFine else { throw CommandEnd.someRejected }
        }
    }

    /// Does something with each of these jobs, or with all of a state, and shows what it says.
    func each(
        _ ids: [JobID], orAll state: JobState?, _ work: (any JobDesk, JobID, OutputFormat) async throws -> String
    ) async throws {
        try await use { desk, format in
            var ids = ids
            if let state { ids = try await Self.all(state, of: desk) }
            return await Self.each(ids) { try await work(desk, $0, format) }
        }
    }

    /// Does something with each of these, and shows what it says.
    func each<Name>(_ names: [Name], _ work: (any JobDesk, Name, OutputFormat) async throws -> String) async throws {
        try await use { desk, format in
            await Self.each(names) { try await work(desk, $0, format) }
        }
    }

    private static func each<Name>(_ names: [Name], _ work: (Name) async throws -> String) async -> Bool {
        var isFine = true
        for name in names {
            do {
                StandardStreams.result(try await work(name))
            } catch {
                tell(error)
                isFine = false
            }
        }
        return isFine
    }

    private static func all(_ state: JobState, of desk: any JobDesk) async throws -> [JobID] {
        var ids: [JobID] = []
        var cursor: JobID?
        repeat {
            let page = try await desk.list(JobFilter(states: [state]), after: cursor, limit: Limits.pageCountMax)
            ids += page.jobs.map(\.id)
            cursor = page.next
        } while cursor != nil
        return ids
    }

    private static func tell(_ error: any Error) {
        let sentence = (error as? AttachPrepError)?.message ?? "That did not work: \(error)"
        StandardStreams.note("attachprep: \(TerminalText.safe(sentence))")
    }
}
