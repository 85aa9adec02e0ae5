import AttachPrepModel
import Crypto
import FileIO
import Glibc
import MediaEngine
import RichPush
import SafeArithmetic

/// Downloads what a playlist leads to, one file after another: other playlists, segments and keys.
///
/// Each is a download like that of a source: with the same address policy, redirects, retries and deadline. The
/// caller's headers and credentials are sent only to the origin of the requested URL.
struct PlaylistDownloads {
    private let request: AttachmentRequest
    private let downloader: Downloader
    private let deadline: ContinuousClock.Instant
    private let origin: WebAddress
    /// Bytes of playlists and of segments that may still be downloaded.
    private var playlistBytesLeft: Int
    private var segmentBytesLeft = Limits.clipBytesMax
    /// Index in `keys` by URL.
    private var keyIndices: [String: Int] = [:]
    private(set) var keys: [[UInt8]] = []
    private(set) var timings = DownloadTimings()
    private var hash = SHA256()

    /// - Parameter bytes: Bytes of the playlist that was requested.
    /// - Throws: The errors of `WebAddress`.
    init(
        _ request: AttachmentRequest, downloader: Downloader, deadline: ContinuousClock.Instant, playlistBytes: Int
    ) throws {
        self.request = request
        self.downloader = downloader
        self.deadline = deadline
        origin = try WebAddress(request.source, httpsOnly: downloader.policy.httpsOnly)
        playlistBytesLeft = Limits.playlistBytesMax.subtracting(clamping: playlistBytes)
    }

    /// Identifies the segments and keys that were downloaded.
    var digest: String { hash.finalize().hexadecimal }

    // MARK: Files

    /// Downloads a playlist.
    ///
    /// - Parameter file: A descriptor for its bytes.
    mutating func playlist(_ uri: String, at base: WebAddress, file: CInt) async throws -> (
        bytes: [UInt8], address: WebAddress
    ) {
        let left = max(0, playlistBytesLeft)
        let found = try await download(
            try base.following(uri), into: file, bytesMax: left, tooLarge: .playlistTooLarge)
        playlistBytesLeft = left.subtracting(clamping: found.bytes)
        return (try Self.bytes(file, count: found.bytes), found.address)
    }

    /// The index of a key of 16 bytes; each is downloaded once.
    mutating func key(_ uri: String, at base: WebAddress, file: CInt) async throws -> Int {
        let address = try base.following(uri)
        if let known = keyIndices[address.text] { return known }
        let wrong = AttachPrepError.invalidKeySize(address.host)
        let found = try await download(address, into: file, bytesMax: Limits.keyBytes, tooLarge: wrong)
        guard found.bytes == Limits.keyBytes else { throw wrong }
        keys.append(try Self.bytes(file, count: found.bytes))
        keyIndices[address.text] = keys.count - 1
        return keys.count - 1
    }

    /// Appends a segment or a part of it to a file.
    ///
    /// - Returns: Where it is in the file.
    mutating func append(_ uri: String, _ range: ResourceRange?, at base: WebAddress, to file: SegmentFile) async throws
        -> JoinRequest.Part
    {
        let address = try base.following(uri)
        let start = file.bytes
        let found = try await download(
            address, into: file.writing, bytesMax: segmentBytesLeft, tooLarge: .segmentsTooLarge, range: range,
            offset: start)
        segmentBytesLeft = segmentBytesLeft.subtracting(clamping: found.bytes)
        file.bytes = start.adding(clamping: found.bytes)
        guard let range else { return JoinRequest.Part(offset: start, bytes: found.bytes) }
        let skipped = found.isWholeFile ? range.offset : 0
        guard skipped.adding(clamping: range.length) <= found.bytes else {
            throw AttachPrepError.rangeMismatch(address.host)
        }
        return JoinRequest.Part(offset: start.adding(clamping: skipped), bytes: range.length)
    }

    private static func bytes(_ file: CInt, count: Int) throws -> [UInt8] {
        do { return try FileIO.bytes(file, at: 0, count: count) } catch {
            throw AttachPrepError(.internal, "A playlist could not be read back.", detail: "errno \(error.code)")
        }
    }

    // MARK: One download

    private mutating func download(
        _ address: WebAddress, into file: CInt, bytesMax: Int, tooLarge: AttachPrepError, range: ResourceRange? = nil,
        offset: Int = 0
    ) async throws -> DownloadedFile {
        var downloadRequest = DownloadRequest(
            url: address.text, headers: request.headers(for: address, from: origin), bytesMax: Limits.clipBytesMax,
            deadline: deadline)
        (downloadRequest.range, downloadRequest.fileOffset) = (range, offset)
        let found = try await downloader.download(downloadRequest, into: file) { _, _ in
            .accepted(bytesMax: bytesMax, tooLarge: tooLarge)
        }
        timings.add(found.timings)
        hash.update(data: Array(found.sha256.utf8))
        return found
    }
}

extension DownloadTimings {
    mutating func add(_ other: DownloadTimings) {
        // Bounded throughout: floating point.
        dns += other.dns
        connect += other.connect
        tls += other.tls
        firstByte += other.firstByte
        transfer += other.transfer
    }
}

/// The segments of one track, one after another in a file without a name.
final class SegmentFile {
    let writing: CInt
    /// Read-only: a media process must not be able to change it.
    let reading: CInt
    var bytes = 0

    init(_ staging: StagingFolder) throws {
        let name = "segments"
        writing = try staging.create(name)
        do {
            reading = try staging.open(name)
            try staging.remove(name)
        } catch {
            close(writing)
            throw error
        }
    }

    deinit {
        close(writing)
        close(reading)
    }
}

extension AttachPrepError {
    fileprivate static func rangeMismatch(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTruncated, "A segment on \(host) is shorter than the playlist says; check the playlist.")
    }
}

extension Limits {
    /// The length of an AES-128 key.
    static let keyBytes = 16
}
