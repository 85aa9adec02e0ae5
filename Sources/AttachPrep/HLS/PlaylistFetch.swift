import AttachPrepModel
import Glibc
import MediaEngine
import RichPush
import SafeArithmetic

/// Makes one movie of an HLS playlist: chooses variant and segments, downloads them, and has a media process join them.
struct PlaylistFetch {
    private let request: AttachmentRequest
    private let dependencies: PipelineDependencies
    private let staging: StagingFolder
    private let deadline: ContinuousClock.Instant
    private var downloads: PlaylistDownloads

    init(
        _ request: AttachmentRequest, _ dependencies: PipelineDependencies, _ staging: StagingFolder,
        _ deadline: ContinuousClock.Instant, playlistBytes: Int
    ) throws {
        self.request = request
        self.dependencies = dependencies
        self.staging = staging
        self.deadline = deadline
        downloads = try PlaylistDownloads(
            request, downloader: dependencies.downloader, deadline: deadline, playlistBytes: playlistBytes)
    }

    /// - Parameters:
    ///   - bytes: The requested playlist.
    ///   - address: Where it was found, after redirects.
    ///   - target: The file that receives the movie.
    mutating func run(_ bytes: [UInt8], at address: WebAddress, into target: CInt) async throws -> FetchedPlaylist {
        guard case .master(let master) = try Playlist(bytes) else {
            return try await joined(nil, bytes, at: address, into: target)
        }
        let choices = VariantChoice.ranked(master, within: VariantLimits(request))
        for (number, choice) in choices.enumerated() {
            do {
                return try await joined(choice, bytes, at: address, into: target)
            } catch let error as AttachPrepError
                // Bounded: an index of a list.
                where error.code == .sourceNotFound && number < choices.count - 1
            {
                // A segment or a playlist of the variant is missing.
                continue
            }
        }
        throw AttachPrepError.noVariant
    }

    /// - Parameter choice: The variant of a master playlist; nil for a media playlist.
    private mutating func joined(
        _ choice: VariantChoice?, _ bytes: [UInt8], at address: WebAddress, into target: CInt
    ) async throws -> FetchedPlaylist {
        let choice = try await chosen(choice, bytes, at: address)
        let clip = try PlaylistClip(choice.main.list, seconds: request.clipSeconds)
        var tracks = [try await segments(clip.segments, at: choice.main.address)]
        if let audio = choice.audio {
            let part = try PlaylistClip(audio.list, seconds: request.clipSeconds)
            tracks.append(try await segments(part.segments, at: audio.address))
        }
        let join = JoinRequest(
            tracks: tracks.map { $0.runs }, keys: downloads.keys, seconds: clip.seconds, isTail: clip.isLive,
            bytesMax: Limits.clipBytesMax)
        let output = OwnedDescriptor(descriptor: try staging.createUnnamed())
        let engine = dependencies.engine(
            for: downloads.digest, .content, source: RedactedURL.redact(request.source))
        let joined = try await engine.join(
            join, sources: tracks.map { $0.file.reading }, output: output.descriptor, deadline: deadline)
        // A copy, because a compromised media process could keep its output open and change it.
        let copy = try await dependencies.blocking.run {
            guard ftruncate(target, 0) == 0 else { throw OutputErrors.error(errno) }
            return try HashedCopy(of: output.descriptor, to: target)
        }
        return FetchedPlaylist(
            bytes: copy.bytes, sha256: copy.sha256, clip: clip, variant: choice.variant, joined: joined,
            isDefault: request.clipSeconds == nil, timings: downloads.timings)
    }

    // MARK: Playlists

    private typealias Found = (list: MediaPlaylist, address: WebAddress)

    private mutating func chosen(
        _ choice: VariantChoice?, _ bytes: [UInt8], at address: WebAddress
    ) async throws -> (main: Found, audio: Found?, variant: PlaylistVariant?) {
        guard let choice else {
            guard case .media(let list) = try Playlist(bytes) else { throw AttachPrepError.nestedPlaylist }
            return ((list, address), nil, nil)
        }
        let main = try await list(choice.variant.uri, at: address)
        guard let uri = choice.audio, uri != choice.variant.uri else { return (main, nil, choice.variant) }
        return (main, try await list(uri, at: address), choice.variant)
    }

    private mutating func list(_ uri: String, at base: WebAddress) async throws -> Found {
        let file = OwnedDescriptor(descriptor: try staging.createUnnamed())
        let (bytes, address) = try await downloads.playlist(uri, at: base, file: file.descriptor)
        guard case .media(let list) = try Playlist(bytes) else { throw AttachPrepError.nestedPlaylist }
        return (list, address)
    }

    // MARK: Segments

    private mutating func segments(_ segments: [PlaylistSegment], at base: WebAddress) async throws -> (
        runs: [JoinRequest.Run], file: SegmentFile
    ) {
        let file = try SegmentFile(staging)
        var runs: [JoinRequest.Run] = []
        var last: PlaylistSegment?
        for segment in segments {
            let isContinued = last.map { $0.discontinuity == segment.discontinuity && $0.map == segment.map } ?? false
            if !isContinued {
                var run = JoinRequest.Run(number: segment.discontinuity, parts: [])
                if let map = segment.map {
                    let part = try await downloads.append(map.uri, map.range, at: base, to: file)
                    run.parts.append(try await part.protected(map.protection, nil, at: base, staging, &downloads))
                }
                runs.append(run)
            }
            let part = try await downloads.append(segment.uri, segment.range, at: base, to: file)
            let whole = try await part.protected(
                segment.protection, segment.sequence, at: base, staging, &downloads)
            // Bounded: the list has a run.
            runs[runs.count - 1].parts.append(whole)
            last = segment
        }
        return (runs, file)
    }
}

extension JoinRequest.Part {
    /// The part with its key and its initialization vector: the media sequence number, unless the playlist has one.
    fileprivate func protected(
        _ protection: SegmentProtection, _ sequence: UInt64?, at base: WebAddress, _ staging: StagingFolder,
        _ downloads: inout PlaylistDownloads
    ) async throws -> JoinRequest.Part {
        guard case .aes128(let uri, let vector) = protection else { return self }
        let file = OwnedDescriptor(descriptor: try staging.createUnnamed())
        var part = self
        part.key = try await downloads.key(uri, at: base, file: file.descriptor)
        part.vector = vector ?? (sequence ?? 0).initializationVector
        return part
    }
}

extension UInt64 {
    /// A big-endian number of 16 bytes (RFC 8216, 5.2).
    // Bounded throughout: eight shifts within 64 bits.
    package var initializationVector: [UInt8] {
        [UInt8](repeating: 0, count: 8) + (0..<8).reversed().map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }
}

extension PreparationPlan {
    /// Describes the plan for a movie made of a playlist: never `passed`, since the source is a playlist.
    mutating func record(_ playlist: FetchedPlaylist) {
        guard outcome != .rejected else { return }
        // Bounded: array concatenation.
        reasons = [playlist.sentence] + (outcome == .passed ? [] : reasons)
        if outcome == .passed { outcome = .converted }
    }
}

/// The movie that was made of a playlist.
struct FetchedPlaylist: Sendable {
    let bytes: Int
    let sha256: String
    let manifest: ManifestPlaylist
    let timings: DownloadTimings
    let warnings: [PreparationWarning]
    /// Seconds that were downloaded, but have another format than the rest.
    private let omittedSeconds: Double

    init(
        bytes: Int, sha256: String, clip: PlaylistClip, variant: PlaylistVariant?, joined: JoinedMedia,
        isDefault: Bool, timings: DownloadTimings
    ) {
        (self.bytes, self.sha256, self.timings) = (bytes, sha256, timings)
        var manifest = ManifestPlaylist(
            live: clip.isLive, segments: clip.segments.count,
            seconds: (joined.duration * 1_000).rounded() / 1_000)
        (manifest.bandwidth, manifest.width, manifest.height) = (variant?.bandwidth, variant?.width, variant?.height)
        self.manifest = manifest
        var warnings: [PreparationWarning] = []
        if clip.isPart, isDefault, !clip.isLive {
            warnings.append(
                PreparationWarning(
                    .mediaCut,
                    "The stream is longer than \(Int(clamping: clip.seconds)) s and was cut; give a longer `clip`."
                ))
        }
        warnings += joined.omissions.map { PreparationWarning(.mediaCut, Self.sentence($0, joined.format)) }
        omittedSeconds = joined.omissions.filter { !$0.isAudio }.map(\.seconds).reduce(0, +)
        self.warnings = warnings
    }

    /// What was left out at a discontinuity, and why.
    private static func sentence(_ omission: JoinedMedia.Omission, _ kept: String) -> String {
        let seconds = roundedToTenths(omission.seconds)
        if omission.isAudio {
            return "\(seconds) s have no audio: after a discontinuity it is \(omission.format), unlike before, and "
                + "segments are joined without encoding."
        }
        let difference =
            omission.format == kept
            ? "\(kept) with other encoder parameters than the rest" : "\(omission.format), the rest is \(kept)"
        return "\(seconds) s beside a discontinuity were left out: they are \(difference), and segments are joined "
            + "without encoding."
    }

    private static func roundedToTenths(_ seconds: Double) -> Double { (seconds * 10).rounded() / 10 }

    /// For the reasons of the manifest.
    var sentence: String {
        let kind = manifest.live ? "live" : "finished"
        let omitted = omittedSeconds > 0 ? ", without \(Self.roundedToTenths(omittedSeconds)) s of another format" : ""
        return "\(manifest.segments) segments of the \(kind) HLS stream were joined into an MP4 of "
            + "\(manifest.seconds) s\(omitted)."
    }
}
