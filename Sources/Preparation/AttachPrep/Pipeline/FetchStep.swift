import AttachPrepModel
import Glibc
import MediaEngine
import MediaTypes
import SafeArithmetic

/// The first stage: stores the source in the staging folder, and identifies it while it arrives.
struct FetchStep: Sendable {
    let request: AttachmentRequest
    let location: SourceLocation
    let dependencies: PipelineDependencies
    /// The empty file that receives the source.
    let file: SourceFile
    let deadline: ContinuousClock.Instant
    /// Validators of an earlier fetch, for a conditional request; nil fetches in any case.
    var validators: SourceValidators?
    /// Follows a download; nil for none.
    var observer: (any FetchObserver)?

    /// - Throws: `UnchangedSourceError` when the server reports that the source still matches the validators.
    func run() async throws -> FetchedSource {
        switch location {
        case .remote(let url): try await download(url)
        case .file(let path): try await copy(path)
        }
    }

    private func download(_ url: String) async throws -> FetchedSource {
        var downloadRequest = DownloadRequest(
            url: url, headers: request.headers.map { (name: $0.key, value: $0.value) },
            bytesMax: Limits.sourceBytesMax, deadline: deadline)
        (downloadRequest.validators, downloadRequest.observer) = (validators, observer)
        let identification = identification(of: file.readable.descriptor)
        let downloaded = try await dependencies.downloader.download(downloadRequest, into: file.writable.descriptor) {
            [request, observer] availableBytes, isComplete in
            guard
                let format = try await identification.attempt(availableBytes: availableBytes, isComplete: isComplete)
            else { return .undecided }
            observer?.identified(as: format)
            let sizeLimit = SourceSizeLimit(format: format, request: request)
            return .accepted(bytesMax: sizeLimit.bytesMax, tooLarge: sizeLimit.error)
        }
        await observer?.completed(DownloadBody(generation: downloaded.generation, bytes: downloaded.bytes))
        let identified = try await identification.finish(bytes: downloaded.bytes, sha256: downloaded.sha256)
        var timings = ManifestTimings(downloaded.timings)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: file.readable, bytes: downloaded.bytes, sha256: downloaded.sha256, finalURL: downloaded.finalURL,
            declaredMIMEType: downloaded.declaredMIMEType, timings: timings, identified: identified,
            freshness: downloaded.freshness)
    }

    /// A file is identified before it is copied, so that a rejected file need not be copied. When its first bytes match
    /// an entry in quarantine, it is copied first, since its digest decides.
    private func copy(_ path: String) async throws -> FetchedSource {
        let local = try LocalFile(path: path, shown: location.shown(for: request))
        guard local.bytes <= Limits.sourceBytesMax else { throw SourceSizeLimit.tooLarge(Limits.sourceBytesMax) }
        let identification = identification(of: local.descriptor)
        if !identification.isSuspect(availableBytes: local.bytes, isComplete: true) {
            _ = try await identify(local.bytes, identification: identification, sha256: nil)
        }
        let start = ContinuousClock.now
        let sha256 = try await dependencies.blocking.run { [deadline, file] in
            try local.copy(to: file.writable.descriptor, deadline: deadline)
        }
        var timings = ManifestTimings()
        timings.transfer = start.duration(to: .now).milliseconds
        let identified = try await identify(local.bytes, identification: identification, sha256: sha256)
        timings.identify = identification.milliseconds
        return FetchedSource(
            file: file.readable, bytes: local.bytes, sha256: sha256, timings: timings, identified: identified)
    }

    private func identify(
        _ bytes: Int, identification: SourceIdentification, sha256: String?
    ) async throws -> IdentifiedMedia {
        let identified = try await identification.finish(bytes: bytes, sha256: sha256)
        if let format = identified.format {
            let sizeLimit = SourceSizeLimit(format: format, request: request)
            guard bytes <= sizeLimit.bytesMax else { throw sizeLimit.error }
        }
        return identified
    }

    private func identification(of descriptor: CInt) -> SourceIdentification {
        SourceIdentification(
            source: request.source, dependencies: dependencies, descriptor: descriptor, deadline: deadline)
    }
}

/// Follows the download of a source.
protocol FetchObserver: DownloadObserver {
    /// The first bytes of the current body have this format.
    func identified(as format: MediaFormat)

    /// The download is complete, with this body.
    func completed(_ body: DownloadBody) async
}

/// A body that was downloaded. Bytes of one generation are only appended, so generation and length identify it.
struct DownloadBody: Sendable, Hashable {
    /// See `DownloadedFile.generation`.
    let generation: Int
    /// Length of the whole body: as declared while it downloads, as received in the end.
    let bytes: Int
}

extension ManifestTimings {
    fileprivate init(_ download: DownloadTimings) {
        self.init()
        (dns, connect, tls) = (download.dns, download.connect, download.tls)
        (firstByte, transfer) = (download.firstByte, download.transfer)
    }
}
