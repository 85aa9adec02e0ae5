import Glibc
import MediaEngine
import RichPush

/// The first step: the source onto the disk, identified while it arrives.
struct FetchStep: Sendable {
    let request: AttachmentRequest
    let location: SourceLocation
    let rooms: PipelineRooms
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant
    /// What was fetched before.
    var validators: SourceValidators?

    /// - Throws: `UnchangedSource` when the server says that the source is still the one of the validators.
    func run() async throws -> FetchedSource {
        let target = try staging.create(FetchedSource.fileName)
        defer { close(target) }
        // What is delivered unchanged must not be changed by who looks at it.
        let readable = OpenFile(descriptor: try staging.open(FetchedSource.fileName))
        switch location {
        case .remote(let url): return try await download(url, into: target, readable)
        case .file(let path): return try await copy(path, into: target, readable)
        }
    }

    // MARK: A URL

    private func download(_ url: String, into target: CInt, _ readable: OpenFile) async throws -> FetchedSource {
        let identification = SourceIdentification(
            source: request.source, rooms: rooms, descriptor: readable.descriptor, deadline: deadline)
        var order = DownloadRequest(
            url: url, headers: request.headers.map { (name: $0.key, value: $0.value) },
            bytesMax: Limits.sourceBytesMax, deadline: deadline)
        order.validators = validators
        let early = ArrivingSource(
            request: request, source: readable, blocking: rooms.blocking, staging: staging, deadline: deadline
        ) { [rooms, request] in rooms.engine(forFirstBytesOf: readable.descriptor, of: request) }
        order.observer = early
        let file: DownloadedFile
        do {
            file = try await rooms.downloader.download(order, into: target) { [request] availableBytes, isComplete in
                guard let format = try await identification.look(availableBytes: availableBytes, isComplete: isComplete)
                else { return .undecided }
                early.identified(as: format)
                let ceiling = SourceCeiling(format: format, request: request)
                return .accepted(bytesMax: ceiling.bytesMax, tooLarge: ceiling.error)
            }
        } catch {
            await early.abandon()
            throw error
        }
        await early.completed(ArrivingBody(generation: file.generation, bytes: file.bytes))
        let identified = try await identification.conclude(bytes: file.bytes, sha256: file.sha256)
        var timings = ManifestTimings(file.timings)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: readable, bytes: file.bytes, sha256: file.sha256, finalURL: file.finalURL,
            declaredMIMEType: file.declaredMIMEType, timings: timings, identified: identified,
            freshness: file.freshness, early: early)
    }

    // MARK: A file

    /// Identified first: a file that is refused need not be copied. Unless it may be in quarantine: then its digest is.
    private func copy(_ path: String, into target: CInt, _ readable: OpenFile) async throws -> FetchedSource {
        let file = try LocalFile(path: path, shown: location.shown(for: request))
        guard file.bytes <= Limits.sourceBytesMax else { throw SourceCeiling.tooLarge(Limits.sourceBytesMax) }
        let identification = SourceIdentification(
            source: request.source, rooms: rooms, descriptor: file.descriptor, deadline: deadline)
        let isSuspect = identification.isSuspect(availableBytes: file.bytes, isComplete: true)
        if !isSuspect { try await identify(file, identification, sha256: nil) }
        let start = ContinuousClock.now
        let sha256 = try await rooms.blocking.run { [deadline] in
            try file.copy(to: target, deadline: deadline)
        }
        var timings = ManifestTimings()
        timings.transfer = start.duration(to: .now).milliseconds
        let identified = try await identify(file, identification, sha256: sha256)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: readable, bytes: file.bytes, sha256: sha256, finalURL: nil, declaredMIMEType: nil,
            timings: timings, identified: identified)
    }

    @discardableResult
    private func identify(_ file: LocalFile, _ identification: SourceIdentification, sha256: String?) async throws
        -> IdentifiedMedia
    {
        let identified = try await identification.conclude(bytes: file.bytes, sha256: sha256)
        if let format = identified.format {
            let ceiling = SourceCeiling(format: format, request: request)
            guard file.bytes <= ceiling.bytesMax else { throw ceiling.error }
        }
        return identified
    }
}

extension ManifestTimings {
    fileprivate init(_ download: DownloadTimings) {
        self.init()
        dns = download.dns
        connect = download.connect
        tls = download.tls
        firstByte = download.firstByte
        transfer = download.transfer
    }
}
