import Foundation
import RichPush
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep

/// A downloader and the file it writes to, set up for one test.
final class DownloadBench: Sendable {
    typealias Question = (bytes: Int, isComplete: Bool)

    let downloader: Downloader
    let folder: TemporaryFolder
    let descriptor: CInt
    private let asked = Mutex<[Question]>([])

    /// - Parameter exempt: loopback addresses to let through, for tests of the wall; nil opens the private network.
    init(
        policy: DownloadPolicy = DownloadPolicy(), exempt: Set<IPAddress>? = nil,
        resolver: any NameResolver = FixedResolver(), inFlightMax: Int = 8, timeouts: DownloadTimeouts = .prompt
    ) throws {
        var policy = policy
        policy.allowsPrivateNetwork = exempt == nil
        downloader = try Downloader(
            policy: policy, resolver: resolver, inFlightMax: inFlightMax, timeouts: timeouts,
            exemptAddresses: exempt ?? [])
        folder = try TemporaryFolder()
        descriptor = open(folder.url.appending(path: "body").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0)
    }

    deinit {
        close(descriptor)
    }

    /// Fetches with one verdict for every question.
    @discardableResult
    func fetch(
        _ url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        within budget: Duration = .seconds(60), verdict: DownloadVerdict = .anything
    ) async throws -> DownloadedFile {
        try await fetch(url, headers: headers, bytesMax: bytesMax, within: budget) { _, _ in verdict }
    }

    /// Fetches, and records what was asked.
    @discardableResult
    func fetch(
        _ url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        within budget: Duration = .seconds(60),
        answer: @escaping @Sendable (Int, Bool) async throws -> DownloadVerdict
    ) async throws -> DownloadedFile {
        let request = DownloadRequest(url: url, headers: headers, bytesMax: bytesMax, deadline: .now + budget)
        return try await downloader.download(request, into: descriptor) { [self] bytes, isComplete in
            asked.withLock { $0.append((bytes, isComplete)) }
            return try await answer(bytes, isComplete)
        }
    }

    /// The error that a fetch ends with.
    func failure(
        of url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        within budget: Duration = .seconds(60), verdict: DownloadVerdict = .anything
    ) async throws -> AttachPrepError {
        try #require(
            await #expect(throws: AttachPrepError.self) {
                try await self.fetch(url, headers: headers, bytesMax: bytesMax, within: budget, verdict: verdict)
            })
    }

    var questions: [Question] { asked.withLock { $0 } }

    /// What stands in the file.
    var content: Data { get throws { try Data(contentsOf: folder.url.appending(path: "body")) } }
}

extension DownloadVerdict {
    static let anything = accepted(
        bytesMax: .max, tooLarge: AttachPrepError(.limitExceeded, "A test's verdict refused its own file."))
}

extension DownloadTimeouts {
    /// Nobody waits between tries; everything else is as in life.
    static let prompt: DownloadTimeouts = {
        var timeouts = DownloadTimeouts()
        timeouts.backOff = .zero
        return timeouts
    }()

    static func prompt(
        connect: Duration? = nil, firstByte: Duration? = nil, stall: Duration? = nil, resolve: Duration? = nil
    ) -> Self {
        var timeouts = prompt
        timeouts.connect = connect ?? timeouts.connect
        timeouts.firstByte = firstByte ?? timeouts.firstByte
        timeouts.stall = stall ?? timeouts.stall
        timeouts.resolve = resolve ?? timeouts.resolve
        return timeouts
    }
}

/// Knows the names it was given, and no others; a name may have several answers, one for each question.
final class FixedResolver: NameResolver {
    private let answers: Mutex<[String: [Result<[IPAddress], NameResolutionError>]]>
    private let asked = Mutex<[String]>([])

    init(_ answers: [String: [String]] = [:]) {
        self.answers = Mutex(answers.mapValues { [.success($0.compactMap { IPAddress($0) })] })
    }

    init(inTurn answers: [String: [Result<[IPAddress], NameResolutionError>]]) {
        self.answers = Mutex(answers)
    }

    var names: [String] { asked.withLock { $0 } }

    func addresses(of host: String) async throws -> [IPAddress] {
        asked.withLock { $0.append(host) }
        let answer = answers.withLock { answers -> Result<[IPAddress], NameResolutionError>? in
            guard let known = answers[host], let next = known.first else { return nil }
            if known.count > 1 { answers[host] = Array(known.dropFirst()) }
            return next
        }
        return try (answer ?? .failure(.unknownName)).get()
    }
}

/// Never answers a name that ends in ".dead".
struct DeadNameServer: NameResolver {
    var living = FixedResolver()

    func addresses(of host: String) async throws -> [IPAddress] {
        guard host.hasSuffix(".dead") else { return try await living.addresses(of: host) }
        // A stream that never brings anything ends with its task.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }
}

/// A body whose every byte tells its place.
func patterned(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
}
