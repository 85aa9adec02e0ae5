import AttachPrepModel
import FileIO
import Glibc
import MediaEngine
import RichPush
import SafeArithmetic

/// The first step: stores the source on disk and identifies it while it downloads.
struct FetchStep: Sendable {
    private(set) var request: AttachmentRequest
    let location: SourceLocation
    let dependencies: PipelineDependencies
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant
    /// Validators of an earlier fetch, for a conditional request; nil fetches in any case.
    var validators: SourceValidators?
    /// Called when the download begins and ends to wait for a source that does not exist yet.
    var onWaiting: (@Sendable (Bool) -> Void)?

    /// - Throws: `UnchangedSourceError` when the server reports that the source still matches the validators.
    func run() async throws -> FetchedSource {
        let target = try staging.create(FetchedSource.fileName)
        defer { close(target) }
        // Read-only: media processes receive this descriptor and must not be able to change the source.
        let readable = OwnedDescriptor(descriptor: try staging.open(FetchedSource.fileName))
        switch location {
        case .remote(let url):
            var step = self
            step.request = dependencies.downloader.netrc?.authorizing(request) ?? request
            return try await step.fetch(url, into: target, readable)
        case .file(let path): return try await copy(path, into: target, readable)
        }
    }

    // MARK: A URL

    private func fetch(_ url: String, into target: CInt, _ readable: OwnedDescriptor) async throws -> FetchedSource {
        var downloadRequest = DownloadRequest(
            url: url, headers: request.headers.map { (name: $0.key, value: $0.value) },
            bytesMax: Limits.sourceBytesMax, deadline: deadline)
        downloadRequest.validators = validators
        downloadRequest.wait = request.waitSeconds.map {
            SourceWait(until: min(deadline, .now + .seconds(clamping: $0)))
        }
        downloadRequest.onWaiting = onWaiting
        if let matrix = request.matrix { return try await decrypted(matrix, downloadRequest, into: target, readable) }
        return try await download(downloadRequest, into: target, readable)
    }

    /// An encrypted file is downloaded whole: nothing of it is used before its hash has been compared.
    private func decrypted(
        _ matrix: MatrixFile, _ downloadRequest: DownloadRequest, into target: CInt, _ readable: OwnedDescriptor
    ) async throws -> FetchedSource {
        let file = try await dependencies.downloader.download(downloadRequest, into: target) { _, _ in
            .accepted(bytesMax: Limits.sourceBytesMax, tooLarge: SourceSizeLimit.tooLarge(Limits.sourceBytesMax))
        }
        let decryption = MatrixDecryption(file: matrix)
        try decryption.verify(file.sha256)
        let sha256 = try await dependencies.blocking.run { [deadline] in
            try decryption.run(target, bytes: file.bytes, deadline: deadline)
        }
        let identification = SourceIdentification(
            source: request.source, dependencies: dependencies, descriptor: readable.descriptor, deadline: deadline)
        let identified = try await identify(bytes: file.bytes, identification, sha256: sha256)
        var timings = ManifestTimings(file.timings)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: readable, bytes: file.bytes, sha256: sha256, finalURL: file.finalURL,
            declaredMIMEType: file.declaredMIMEType, timings: timings, identified: identified,
            freshness: file.freshness)
    }

    /// - Parameter page: The page that named the URL; nil for the requested URL.
    private func download(
        _ downloadRequest: DownloadRequest, from page: FoundPage? = nil, into target: CInt, _ readable: OwnedDescriptor
    ) async throws -> FetchedSource {
        let identification = SourceIdentification(
            source: request.source, dependencies: dependencies, descriptor: readable.descriptor, deadline: deadline,
            acceptsPages: true)
        var downloadRequest = downloadRequest
        let early = EarlyProcessing(
            request: request, source: readable, blocking: dependencies.blocking, staging: staging, deadline: deadline
        ) { [dependencies, request] in dependencies.engine(forFirstBytesOf: readable.descriptor, of: request) }
        downloadRequest.observer = early
        let file: DownloadedFile
        do {
            file = try await dependencies.downloader.download(downloadRequest, into: target) {
                [request] availableBytes, isComplete in
                if Playlist.begins(readable.firstBytes) {
                    guard request.unsupported == .convert else { throw AttachPrepError.unconvertedPlaylist }
                    return .accepted(bytesMax: Limits.playlistBytesMax, tooLarge: .playlistTooLarge)
                }
                guard
                    let format = try await identification.attempt(
                        availableBytes: availableBytes, isComplete: isComplete)
                else {
                    guard identification.isPage else { return .undecided }
                    return try await PageVerdict(request: request, identification: identification).verdict(
                        bytes: availableBytes, from: page)
                }
                early.identified(as: format)
                let sizeLimit = SourceSizeLimit(format: format, request: request)
                return .accepted(bytesMax: sizeLimit.bytesMax, tooLarge: sizeLimit.error)
            }
        } catch {
            await early.abandon()
            throw error
        }
        if Playlist.begins(readable.firstBytes) {
            await early.abandon()
            return try await join(file, from: page, into: target, readable)
        }
        if identification.isPage {
            await early.abandon()
            return try await unfurl(file, identification, downloadRequest, into: target, readable)
        }
        await early.completed(DownloadBody(generation: file.generation, bytes: file.bytes))
        let identified = try await identification.finish(bytes: file.bytes, sha256: file.sha256)
        // One whose first bytes are those of content in quarantine.
        if identified.isPage { throw AttachPrepError.sourceIsPage(identified.magicMIMEType, names: nil) }
        var timings = ManifestTimings(file.timings.adding(page?.timings))
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: readable, bytes: file.bytes, sha256: file.sha256, finalURL: file.finalURL,
            declaredMIMEType: file.declaredMIMEType, timings: timings, identified: identified,
            freshness: page == nil ? file.freshness : SourceFreshness(), early: early, page: page?.manifest)
    }

    // MARK: A web page

    /// Downloads what a page names: the first of its links that is media.
    private func unfurl(
        _ file: DownloadedFile, _ identification: SourceIdentification, _ downloadRequest: DownloadRequest,
        into target: CInt, _ readable: OwnedDescriptor
    ) async throws -> FetchedSource {
        let links = try await identification.readPage(
            PageRequest(bytes: file.bytes, charset: file.declaredCharset), sha256: file.sha256)
        var unfurling = try Unfurling(request, dependencies.downloader, deadline: deadline, page: file)
        let candidates = try await unfurling.candidates(links) {
            OwnedDescriptor(descriptor: try staging.createUnnamed())
        }
        var failure: AttachPrepError?
        for candidate in candidates {
            var next = unfurling.downloadRequest(for: candidate.address)
            (next.wait, next.onWaiting) = (downloadRequest.wait, downloadRequest.onWaiting)
            do {
                return try await download(next, from: unfurling.page(candidate.property), into: target, readable)
            } catch let error as AttachPrepError where Unfurling.allowsNextLink(error) {
                failure = failure ?? error
            }
        }
        throw failure ?? .pageWithoutMedia
    }

    // MARK: A playlist

    /// The movie made of a playlist, which replaces the playlist in the file.
    private func join(
        _ file: DownloadedFile, from page: FoundPage?, into target: CInt, _ readable: OwnedDescriptor
    ) async throws -> FetchedSource {
        let bytes = try FileIO.bytes(readable.descriptor, at: 0, count: file.bytes)
        var fetch = try PlaylistFetch(request, dependencies, staging, deadline, playlistBytes: file.bytes)
        let playlist = try await fetch.run(bytes, at: file.address, into: target)
        let identification = SourceIdentification(
            source: request.source, dependencies: dependencies, descriptor: readable.descriptor, deadline: deadline)
        let identified = try await identification.finish(bytes: playlist.bytes, sha256: playlist.sha256)
        if let format = identified.format {
            let sizeLimit = SourceSizeLimit(format: format, request: request)
            guard playlist.bytes <= sizeLimit.bytesMax else { throw sizeLimit.error }
        }
        let timings = file.timings.adding(page?.timings).adding(playlist.timings)
        var whole = ManifestTimings(timings)
        whole.identify = identification.milliseconds
        // A live stream has other segments the next time.
        let freshness = playlist.manifest.live || page != nil ? SourceFreshness() : file.freshness
        return FetchedSource(
            file: readable, bytes: playlist.bytes, sha256: playlist.sha256, finalURL: file.finalURL,
            declaredMIMEType: file.declaredMIMEType, timings: whole, identified: identified, freshness: freshness,
            playlist: playlist, page: page?.manifest)
    }

    // MARK: A file

    /// A file is identified before it is copied, so that a rejected file need not be copied. When its first bytes match
    /// an entry in quarantine, it is copied first, since its digest decides.
    private func copy(_ path: String, into target: CInt, _ readable: OwnedDescriptor) async throws -> FetchedSource {
        let file = try LocalFile(path: path, shown: location.shown(for: request))
        guard file.bytes <= Limits.sourceBytesMax else { throw SourceSizeLimit.tooLarge(Limits.sourceBytesMax) }
        if let first = try? FileIO.bytes(file.descriptor, at: 0, count: 16), Playlist.begins(first) {
            throw AttachPrepError.localPlaylist
        }
        let identification = SourceIdentification(
            source: request.source, dependencies: dependencies, descriptor: file.descriptor, deadline: deadline)
        let isSuspect = identification.isSuspect(availableBytes: file.bytes, isComplete: true)
        if !isSuspect { try await identify(bytes: file.bytes, identification, sha256: nil) }
        let start = ContinuousClock.now
        let sha256 = try await dependencies.blocking.run { [deadline] in
            try file.copy(to: target, deadline: deadline)
        }
        var timings = ManifestTimings()
        timings.transfer = start.duration(to: .now).milliseconds
        let identified = try await identify(bytes: file.bytes, identification, sha256: sha256)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: readable, bytes: file.bytes, sha256: sha256, finalURL: nil, declaredMIMEType: nil,
            timings: timings, identified: identified)
    }

    @discardableResult
    private func identify(bytes: Int, _ identification: SourceIdentification, sha256: String?) async throws
        -> IdentifiedMedia
    {
        let identified = try await identification.finish(bytes: bytes, sha256: sha256)
        if let format = identified.format {
            let sizeLimit = SourceSizeLimit(format: format, request: request)
            guard bytes <= sizeLimit.bytesMax else { throw sizeLimit.error }
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

/// A source on disk, with what the server declared.
final class FetchedSource: Sendable {
    /// The name of the file in the staging folder.
    static let fileName = "source"

    private let file: OwnedDescriptor
    let bytes: Int
    /// Lowercase hexadecimal.
    let sha256: String
    let finalURL: String?
    let declaredMIMEType: String?
    let timings: ManifestTimings
    /// The result of identification.
    let identified: IdentifiedMedia
    /// Freshness information from the response headers; nil for a file.
    let freshness: SourceFreshness?
    /// Early processing of the source; nil for a file.
    let early: EarlyProcessing?
    /// The playlist that the file was made of; nil for any other source.
    let playlist: FetchedPlaylist?
    /// The web page that named the source; nil for any other source.
    let page: ManifestPage?

    init(
        file: OwnedDescriptor, bytes: Int, sha256: String, finalURL: String?, declaredMIMEType: String?,
        timings: ManifestTimings, identified: IdentifiedMedia, freshness: SourceFreshness? = nil,
        early: EarlyProcessing? = nil, playlist: FetchedPlaylist? = nil,
        page: ManifestPage? = nil
    ) {
        self.file = file
        self.bytes = bytes
        self.sha256 = sha256
        self.finalURL = finalURL
        self.declaredMIMEType = declaredMIMEType
        self.timings = timings
        self.identified = identified
        self.freshness = freshness
        self.early = early
        self.playlist = playlist
        self.page = page
    }

    /// Open for reading only.
    var descriptor: CInt { file.descriptor }
}

/// A descriptor that is closed when this object is released.
final class OwnedDescriptor: Sendable {
    let descriptor: CInt

    init(descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// The beginning of the file, for formats that are recognized by a few characters.
    var firstBytes: [UInt8] { (try? FileIO.bytes(descriptor, at: 0, count: 16)) ?? [] }
}

/// How large a source of a known format may be, and the error when it is larger. Pure.
struct SourceSizeLimit: Sendable, Hashable {
    let bytesMax: Int
    let error: AttachPrepError

    init(format: MediaFormat, request: AttachmentRequest) {
        let limit = request.bytesMax(for: format.kind)
        // An attachable source that must not be shrunk is useless above the limit for its attachment.
        if format.attachmentType != nil, request.oversize == .reject {
            bytesMax = limit
            error = AttachPrepError(
                .limitExceeded,
                "The \(format.kind.rawValue) is over its limit of \(limit.grouped) bytes; allow shrinking "
                    + "(oversize: shrink) or send a smaller file.")
        } else {
            bytesMax = Limits.sourceBytesMax(format.kind)
            error = Self.tooLarge(bytesMax)
        }
    }

    /// The error for a source over the limit for all sources.
    static func tooLarge(_ bytesMax: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The source is over the limit of \(bytesMax.grouped) bytes; send a smaller file.")
    }
}
