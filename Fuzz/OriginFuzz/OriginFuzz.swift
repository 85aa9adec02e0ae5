import Foundation
import FuzzSupport
import MediaTypes
import PeerSupport
import Synchronization

@testable import AttachPrep
@testable import AttachPrepModel

/// Simulates an origin for the whole download: heads, chunks, interruptions, resumes, redirects and content codings,
/// over HTTP/1 and HTTP/2, as scripted by `HostileScript`.
@main enum OriginFuzz {
    private static let peer = ScriptedPeer()
    nonisolated(unsafe) private static let files = [MemoryFile(), MemoryFile(), MemoryFile()]
    nonisolated(unsafe) private static var descriptors = DescriptorCount()

    /// Short, so that a silent server costs little time.
    private static let deadline = Duration.milliseconds(300)
    /// Additional time for a loaded machine and the address sanitizer.
    private static let grace = Duration.seconds(3)

    static func main() {
        // Starts the connection thread before anything is measured.
        _ = peer.port
        FuzzTarget.run { input in try play(input) }
    }

    /// The parameters of a download.
    private struct Wish: Sendable {
        var bytesMax: Int
        var acceptedMax: Int
        var verdicts: UInt8
        var hasValidators: Bool
        var path: String
        var descriptor: CInt

        init(_ input: inout FuzzInput, _ descriptor: CInt) {
            let choices = input.byte()
            let limits = [400_000, 1_000_000, 65_536, 4_096, 4_095, 1]
            bytesMax = limits[Int(choices & 7) % limits.count]
            acceptedMax = limits[Int(choices >> 3 & 7) % limits.count]
            verdicts = input.byte()
            hasValidators = choices & 0x40 != 0
            path = choices & 0x80 != 0 ? "/a?token=1" : "/a"
            self.descriptor = descriptor
        }
    }

    private static func play(_ input: FuzzInput) throws {
        var input = input
        let choices = input.byte()
        let wishes = files.prefix(1 + Int(choices & 3) % files.count).map { Wish(&input, $0.descriptor) }
        for file in files { file.replace(with: []) }
        let script = HostileScript(input, port: peer.port)
        peer.begin { script.steps(for: $0) }
        let downloader = try downloader(speaksHTTP2: choices & 4 != 0)
        let isConcurrent = choices & 8 != 0
        Waiting.result {
            if isConcurrent {
                await withTaskGroup { group in
                    for wish in wishes { group.addTask { await fetch(wish, downloader) } }
                }
            } else {
                for wish in wishes { await fetch(wish, downloader) }
            }
            await downloader.shutdown()
        }
        peer.end()
        for outcome in outcomes.withLock({ $0 }) { outcome.check(script.facts) }
        outcomes.withLock { $0 = [] }
        descriptors.check()
    }

    private static func downloader(speaksHTTP2: Bool) throws -> Downloader {
        var policy = DownloadPolicy()
        policy.resolveOverrides = ["origin.test", "other.test"].map { "\($0):\(peer.port):127.0.0.1" }
        policy.assumesHTTP2 = speaksHTTP2
        var timeouts = DownloadTimeouts()
        timeouts.resolve = .milliseconds(200)
        timeouts.connect = .milliseconds(100)
        timeouts.firstByte = .milliseconds(60)
        timeouts.stall = .milliseconds(50)
        timeouts.stallBytesMin = 1
        timeouts.backOff = .milliseconds(1)
        let loopback = Set([IPAddress("127.0.0.1")].compactMap(\.self))
        return try Downloader(policy: policy, resolver: NoNames(), timeouts: timeouts, exemptAddresses: loopback)
    }

    private struct NoNames: NameResolver {
        func addresses(of host: String) async throws -> [IPAddress] { throw NameResolutionError.unknownName }
    }

    private struct UnwantedError: Error {}

    private static let outcomes = Mutex<[Outcome]>([])

    private static func fetch(_ wish: Wish, _ downloader: Downloader) async {
        let stopwatch = FairStopwatch()
        var request = DownloadRequest(
            url: "http://origin.test:\(peer.port)\(wish.path)", bytesMax: wish.bytesMax,
            deadline: .now + deadline)
        if wish.hasValidators {
            request.validators = SourceValidators(entityTag: "\"v\(Content.firstVersion)\"", lastModified: nil)
        }
        let tooLarge = AttachPrepError(.downloadTooLarge, "The file is too large.")
        let requested = Mutex(0)
        let isAccepted = Mutex(false)
        let result: Result<DownloadedFile, any Error>
        do {
            result = .success(
                try await downloader.download(request, into: wish.descriptor) { bytes, isComplete in
                    let turn = requested.withLock { count in
                        count += 1
                        return count
                    }
                    isAccepted.withLock { $0 = false }
                    switch wish.verdicts >> UInt8((turn - 1) * 2 % 8) & 3 {
                    case 1 where !isComplete: return .undecided
                    case 2: throw UnwantedError()
                    case 3: try await Task.sleep(for: .milliseconds(3))
                    default: break
                    }
                    isAccepted.withLock { $0 = true }
                    return .accepted(bytesMax: wish.acceptedMax, tooLarge: tooLarge)
                })
        } catch {
            result = .failure(error)
        }
        let outcome = Outcome(
            result: result, took: stopwatch.took, limit: deadline + grace, descriptor: wish.descriptor,
            bytesMax: isAccepted.withLock { $0 } ? min(wish.bytesMax, wish.acceptedMax) : wish.bytesMax,
            bytesWritableMax: wish.bytesMax, hadValidators: wish.hasValidators,
            wasUnwanted: { $0 is UnwantedError })
        outcomes.withLock { $0.append(outcome) }
    }
}

/// The result of a download, and its invariants.
private struct Outcome: Sendable {
    var result: Result<DownloadedFile, any Error>
    var took: Duration
    var limit: Duration
    var descriptor: CInt
    var bytesMax: Int
    var bytesWritableMax: Int
    var hadValidators: Bool
    var wasUnwanted: @Sendable (any Error) -> Bool

    func check(_ facts: HostileScript.Facts) {
        Invariant.hold(took < limit, "a download ends by its deadline: took \(took)")
        Trace.show("=== \(result) after \(took)")
        let bytes = Self.bytes(of: descriptor)
        Invariant.hold(bytes.count <= bytesWritableMax, "\(bytes.count) bytes are within the limit")
        let isSurplus = !facts.hasForeignBytes && bytes.contains(Content.surplus)
        Invariant.hold(!isSurplus, "no byte of an unsolicited response")
        switch result {
        case .success(let file): check(file, bytes, facts)
        case .failure(let error as AttachPrepError):
            Invariant.hold(error.code != .internal, "no origin makes an internal error: \(error.detail ?? "")")
        case .failure(is UnchangedSourceError):
            Invariant.hold(hadValidators, "without validators, no result is unchanged")
        case .failure(let error): Invariant.hold(wasUnwanted(error), "only expected error types are thrown: \(error)")
        }
    }

    private func check(_ file: DownloadedFile, _ bytes: [UInt8], _ facts: HostileScript.Facts) {
        Invariant.hold(file.bytes == bytes.count, "\(file.bytes) bytes are reported, \(bytes.count) were written")
        Invariant.hold(file.sha256 == UploadDigest.sha256(of: bytes), "the digest is the file's")
        Invariant.hold(bytes.count <= bytesMax, "\(bytes.count) bytes were accepted")
        if !facts.hasForeignBytes {
            for change in Content.changes(in: bytes) {
                let isJoined = facts.joins.contains { change.after < $0 && $0 <= change.at }
                Invariant.hold(isJoined, "versions are joined at \(change.at) where no 206 continued")
            }
        }
        guard facts.isHonest, !facts.hasForeignBytes else { return }
        let version = bytes.first.map { $0 >> 4 } ?? Content.firstVersion
        Invariant.hold(
            bytes == Content.bytes(version, 0..<bytes.count),
            "the file of a correct server is the one it serves")
        guard !facts.hasOpenEnd, !bytes.isEmpty else { return }
        Invariant.hold(facts.lengths[version] == bytes.count, "the file of a correct server is complete")
    }

    private static func bytes(of descriptor: CInt) -> [UInt8] {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, filled in
            filled = max(0, pread(descriptor, buffer.baseAddress, length, 0))
        }
    }
}
