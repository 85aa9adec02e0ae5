import ArgumentParser
import AttachPrep
import Logging
import RichPush

/// A preparer for the time of one command, and many sources through it at a time.
struct PreparerSession: Sendable {
    let preparer: AttachmentPreparer
    /// Where results are, as people read it; nil where they say it themselves.
    let place: String?
    private let concurrency: Int

    /// - Throws: `ValidationError` for options that cannot be read, so that it counts as wrong usage.
    init(
        machine: MachineOptionGroup, output: OutputOptionGroup?, publish: PublishOptionGroup? = nil,
        report: ReportOptionGroup, requests: Int = 1
    ) throws {
        let published = try publish?.place() ?? .folder
        var configuration = machine.configuration(
            output: output?.folder(for: published) ?? PreparerConfiguration.scratchFolder)
        configuration.publish = published
        place = published.isRemote ? nil : configuration.output
        configuration.requestsExpected = min(requests, machine.concurrency)
        configuration.baseURL = output?.baseURL
        var logger = Logger(label: "attachprep") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = report.verbose ? .debug : .error
        do {
            preparer = try AttachmentPreparer(configuration, logger: logger)
        } catch let error as AttachPrepError {
            if error.code == .requestInvalid { throw ValidationError(error.message) }
            StandardStreams.note("attachprep: \(error.message)")
            throw CommandEnd.someRejected
        }
        concurrency = machine.concurrency
    }

    /// How a run over many sources ended.
    struct End: Sendable {
        var failures = 0
        var isCancelled = false
    }

    /// Prepares one source, or takes what stands in place already.
    ///
    /// - Parameter shelf: where the result is kept for a page.
    func prepare(
        _ source: String, resume: Bool, shelf: ReportShelf.Place? = nil, _ request: () throws -> AttachmentRequest
    ) async -> Manifest {
        do {
            let request = try request()
            if resume, let manifest = await finished(request, shelf) { return manifest }
            return await prepared(request, shelf)
        } catch {
            let manifest = Manifest(refusing: AttachmentRequest(source: source), error)
            await shelf?.keep(manifest, in: nil, preparer)
            return manifest
        }
    }

    /// What an earlier run left, when it still is what is asked for.
    func finished(_ request: AttachmentRequest, _ shelf: ReportShelf.Place?) async -> Manifest? {
        guard let manifest = await preparer.finished(request) else { return nil }
        await shelf?.keep(manifest, in: folder(of: manifest), preparer)
        return manifest
    }

    /// Prepares a request.
    func prepared(_ request: AttachmentRequest, _ shelf: ReportShelf.Place?) async -> Manifest {
        guard let shelf else { return await preparer.prepare(request) }
        var order = PreparationOrder(request)
        if !preparer.keepsFolders {
            // They are elsewhere afterwards, and seen here for the last time.
            order.onFiles = { await shelf.keep($0, in: $1, preparer) }
        }
        guard case .ended(let manifest, _) = await preparer.carryOut(order) else {
            preconditionFailure("nobody asked whether anything has changed")
        }
        let isKept = !preparer.keepsFolders && manifest.attachment != nil
        if isKept { shelf.complete(manifest) } else { await shelf.keep(manifest, in: folder(of: manifest), preparer) }
        return manifest
    }

    private func folder(of manifest: Manifest) -> String? {
        guard preparer.keepsFolders, manifest.attachment != nil else { return nil }
        return "\(preparer.output)/\(manifest.id)"
    }

    /// Works on many items at a time and shows each result, in their order or as they finish.
    func each<Item: Sendable>(
        _ items: [Item], inOrder: Bool, work: @escaping @Sendable (Item) async -> Manifest,
        show: @escaping @Sendable (Manifest) -> Void
    ) async -> End {
        await withTaskGroup(of: (Int, Manifest).self) { group in
            var end = End()
            var shown = ResultOrder(inOrder: inOrder)
            var next = 0
            while next < min(concurrency, items.count) {
                Self.add(items, next, work, to: &group)
                next += 1
            }
            for await (index, manifest) in group {
                if manifest.error != nil { end.failures += 1 }
                for ready in shown.add(manifest, at: index) { show(ready) }
                guard next < items.count, !Task.isCancelled else { continue }
                Self.add(items, next, work, to: &group)
                next += 1
            }
            end.isCancelled = Task.isCancelled
            return end
        }
    }

    private static func add<Item: Sendable>(
        _ items: [Item], _ index: Int, _ work: @escaping @Sendable (Item) async -> Manifest,
        to group: inout TaskGroup<(Int, Manifest)>
    ) {
        let item = items[index]
        group.addTask { (index, await work(item)) }
    }
}

/// Results as they may be shown: at once, or held back until those before them have come. Pure.
struct ResultOrder {
    private let inOrder: Bool
    private var held: [Int: Manifest] = [:]
    private var next = 0

    init(inOrder: Bool) {
        self.inOrder = inOrder
    }

    /// What can be shown now that this one has come.
    mutating func add(_ manifest: Manifest, at index: Int) -> [Manifest] {
        guard inOrder else { return [manifest] }
        held[index] = manifest
        var ready: [Manifest] = []
        while let manifest = held.removeValue(forKey: next) {
            ready.append(manifest)
            next += 1
        }
        return ready
    }
}
