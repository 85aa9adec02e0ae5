import AttachPrepModel
import Crypto
import Glibc
import Linux
import MediaEngine
import MediaTypes
import SafeArithmetic
import Synchronization

/// Identifies a source while it downloads, repeatedly until its format is known: by its signature, or else by the
/// engine.
final class SourceIdentification: Sendable {
    private let dependencies: PipelineDependencies
    /// Redacted.
    private let source: String
    private let descriptor: CInt
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((media: IdentifiedMedia?.none, isComplete: false, milliseconds: 0.0))

    init(source: String, dependencies: PipelineDependencies, descriptor: CInt, deadline: ContinuousClock.Instant) {
        self.dependencies = dependencies
        self.source = RedactedURL.redact(source)
        self.descriptor = descriptor
        self.deadline = deadline
    }

    /// Time spent on identification.
    var milliseconds: Double { state.withLock { $0.milliseconds } }

    /// Identifies the bytes received so far; nil when they do not determine a format yet.
    ///
    /// - Throws: `media.empty`, `media.unrecognized`, `media.unsupported`, `media.quarantined`.
    func attempt(availableBytes: Int, isComplete: Bool) async throws -> MediaFormat? {
        // An earlier result was for fewer bytes, or for a body that was discarded.
        state.withLock { ($0.media, $0.isComplete) = (nil, false) }
        // The prefix matches content in quarantine: nothing decodes it before the whole file's digest is known.
        if isSuspect(availableBytes: availableBytes, isComplete: isComplete) { return nil }
        return try await identify(availableBytes: availableBytes, isComplete: isComplete, sha256: nil)
    }

    /// Whether content in quarantine has the same first bytes.
    func isSuspect(availableBytes: Int, isComplete: Bool) -> Bool {
        let length = PrefixDigest.length(available: availableBytes, isComplete: isComplete)
        guard let digest = PrefixDigest.digest(of: descriptor, length: length) else { return false }
        return dependencies.quarantine.isSuspect(prefix: digest)
    }

    /// The final result: over the whole file, unless an earlier attempt succeeded.
    ///
    /// - Parameter sha256: SHA-256 of the content, if known.
    func finish(bytes: Int, sha256: String?) async throws -> IdentifiedMedia {
        let known = state.withLock { $0.isComplete || $0.media?.format != nil ? $0.media : nil }
        if let known { return known }
        _ = try await identify(availableBytes: bytes, isComplete: true, sha256: sha256)
        return state.withLock { $0.media } ?? IdentifiedMedia(format: nil, magicMIMEType: "")
    }

    private func identify(availableBytes: Int, isComplete: Bool, sha256: String?) async throws -> MediaFormat? {
        let start = ContinuousClock.now
        let length = PrefixDigest.length(available: availableBytes, isComplete: isComplete)
        let request = IdentifyRequest(
            availableBytes: isComplete ? availableBytes : length, isComplete: isComplete)
        let media: IdentifiedMedia
        if let format = signature(length) {
            media = IdentifiedMedia(format: format, magicMIMEType: "")
        } else {
            let engine = engine(length: length, sha256: sha256)
            media = try await engine.identify(request, source: descriptor, deadline: deadline)
        }
        state.withLock { state in
            state.media = media
            state.isComplete = isComplete
            state.milliseconds += start.duration(to: .now).milliseconds
        }
        return media.format
    }

    /// The format by signature; nil also for one that is not decodable, which the engine explains.
    private func signature(_ length: Int) -> MediaFormat? {
        let first = try? FileIO.bytes(descriptor, at: 0, count: length)
        let format = first.flatMap { FileSignature.format(of: LeadingBytes($0)) }
        return format?.isDecodable == true ? format : nil
    }

    /// A crash counts against the content's digest if it is known, else against the digest of the first bytes.
    private func engine(length: Int, sha256: String?) -> any MediaEngine {
        if let sha256 {
            return dependencies.engine(for: sha256, .content, source: source) { [descriptor] in
                PrefixDigest.digests(of: descriptor)
            }
        }
        guard let digest = PrefixDigest.digest(of: descriptor, length: length) else { return dependencies.engine }
        return dependencies.engine(for: digest, .firstBytes, source: source)
    }
}

/// Digests of the prefixes that identification reads.
///
/// The prefix lengths are fixed, so that a file has the same prefixes however its bytes are received.
enum PrefixDigest {
    private static let lengths = [Limits.identifyBytesFirst, Limits.identifyBytesLast]

    /// How many of the available bytes are read: the largest fixed length that is available, or all of a complete file.
    static func length(available: Int, isComplete: Bool) -> Int {
        if isComplete { return min(available, Limits.identifyBytesLast) }
        return lengths.last { $0 <= available } ?? available
    }

    /// The digests of all prefixes under which this file can be checked.
    static func digests(of descriptor: CInt) -> [String] {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return [] }
        return Set(lengths.map { min($0, Int(clamping: status.st_size)) }).sorted().compactMap {
            digest(of: descriptor, length: $0)
        }
    }

    /// Nil when the file is shorter.
    static func digest(of descriptor: CInt, length: Int) -> String? {
        guard let bytes = try? FileIO.bytes(descriptor, at: 0, count: length), bytes.count == length else { return nil }
        return SHA256.hash(data: bytes).hexadecimal
    }
}
