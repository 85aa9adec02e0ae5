import ArgumentParser
import AttachPrep
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import Logging
import MediaTypes

/// The preparer of a command, with concurrent processing of its sources.
struct PreparerSession: Sendable {
    let preparer: AttachmentPreparer
    /// The output folder shown with results; nil if they are published to a bucket and shown by URL.
    let outputFolder: String?
    private let concurrency: Int
    /// Nil unless the environment configures traces.
    private let tracing: ProcessTracing?

    /// - Throws: `ValidationError` for invalid options, so that the command exits with 2.
    init(
        machine: MachineOptionGroup, output: OutputOptionGroup?, publish: PublishOptionGroup? = nil,
        report: ReportOptionGroup, requests: Int = 1
    ) async throws {
        let published = try publish?.target() ?? .folder
        var configuration = machine.configuration(
            output: output?.folder(for: published) ?? PreparerConfiguration.scratchFolder)
        configuration.publish = published
        outputFolder = published.isRemote ? nil : configuration.output
        configuration.requestsExpected = min(requests, machine.concurrency)
        configuration.baseURL = output?.baseURL
        let logger = Logger.standardError(report.verbose ? .debug : .error)
        do {
            tracing = try ProcessTracing(environment: ProcessInfo.processInfo.environment, logger: logger)
            configuration.tracer = tracing?.tracer
            preparer = try AttachmentPreparer(configuration, logger: logger)
            try await preparer.checkCredentials()
        } catch let error as AttachPrepError {
            if error.code == .requestInvalid { throw ValidationError(error.message) }
            StandardStreams.error(error.message)
            throw ExitCodeError.someRejected
        }
        concurrency = machine.concurrency
    }

    /// Ends media processes and connections, and sends the remaining spans.
    func shutdown() async {
        await preparer.shutdown()
        await tracing?.shutdown()
    }

    struct End: Sendable {
        var failures = 0
        var isCancelled = false
    }

    /// Prepares one source, or returns its existing result with `resume`.
    ///
    /// - Parameter collector: the slot on a page for the result.
    func prepare(
        _ source: String, resume: Bool, collector: ReportCollector.Slot? = nil,
        _ request: () throws -> AttachmentRequest
    ) async -> Manifest {
        do {
            let request = try request()
            if resume, let manifest = await finished(request, collector: collector) { return manifest }
            return await prepared(request, collector: collector)
        } catch {
            let manifest = Manifest(rejecting: AttachmentRequest(source: source), error)
            await collector?.store(manifest, in: nil, preparer: preparer)
            return manifest
        }
    }

    /// The result of an earlier run, if it still matches the request.
    func finished(_ request: AttachmentRequest, collector: ReportCollector.Slot?) async -> Manifest? {
        guard let manifest = await preparer.finished(request) else { return nil }
        await collector?.store(manifest, in: folder(of: manifest), preparer: preparer)
        return manifest
    }

    func prepared(_ request: AttachmentRequest, collector: ReportCollector.Slot?) async -> Manifest {
        var task = PreparationTask(request)
        if let collector, !preparer.keepsFolders {
            // Collects the files before they are published and deleted here.
            task.onFiles = { await collector.store($0, in: $1, preparer: preparer) }
        }
        guard case .ended(let manifest, _) = await preparer.prepare(task) else {
            preconditionFailure("unreachable: no validators were sent")
        }
        guard let collector else { return manifest }
        let isKept = !preparer.keepsFolders && manifest.attachment != nil
        if isKept {
            collector.complete(manifest)
        } else {
            await collector.store(manifest, in: folder(of: manifest), preparer: preparer)
        }
        return manifest
    }

    private func folder(of manifest: Manifest) -> String? {
        guard preparer.keepsFolders, manifest.attachment != nil else { return nil }
        return "\(preparer.output)/\(manifest.id)"
    }

    /// Processes items concurrently and shows each result, in the order of the items or as they finish.
    func each<Item: Sendable, Result: CommandResult>(
        _ items: [Item], inOrder: Bool, work: @escaping @Sendable (Item) async -> Result,
        show: @escaping @Sendable (Result) -> Void
    ) async -> End {
        await withTaskGroup(of: (Int, Result).self) { group in
            var end = End()
            var shown = OrderedResults<Result>(inOrder: inOrder)
            var next = 0
            while next < min(concurrency, items.count) {
                Self.add(items, index: next, work: work, to: &group)
                next += 1
            }
            for await (index, result) in group {
                if result.isFailure { end.failures += 1 }
                for ready in shown.add(result, at: index) { show(ready) }
                guard next < items.count, !Task.isCancelled else { continue }
                Self.add(items, index: next, work: work, to: &group)
                next += 1
            }
            end.isCancelled = Task.isCancelled
            return end
        }
    }

    private static func add<Item: Sendable, Result: Sendable>(
        _ items: [Item], index: Int, work: @escaping @Sendable (Item) async -> Result,
        to group: inout TaskGroup<(Int, Result)>
    ) {
        let item = items[index]
        group.addTask { (index, await work(item)) }
    }
}

/// The result of one of a command's items, which decides the exit code.
protocol CommandResult: Sendable {
    var isFailure: Bool { get }
}

extension Manifest: CommandResult {
    var isFailure: Bool { error != nil }
}

/// Restores the order of results: holds each one back until all before it are complete.
struct OrderedResults<Result> {
    private let inOrder: Bool
    private var held: [Int: Result] = [:]
    private var next = 0

    init(inOrder: Bool) {
        self.inOrder = inOrder
    }

    /// Adds a result and returns those that can be shown now.
    mutating func add(_ result: Result, at index: Int) -> [Result] {
        guard inOrder else { return [result] }
        held[index] = result
        var ready: [Result] = []
        while let result = held.removeValue(forKey: next) {
            ready.append(result)
            next += 1
        }
        return ready
    }
}
