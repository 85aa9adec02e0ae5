import Foundation
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// A downloader and the file it writes to, set up for one test.
final class DownloadBench: Sendable {
    typealias PrefixCheck = (bytes: Int, isComplete: Bool)

    let downloader: Downloader
    let folder: TemporaryFolder
    let descriptor: CInt
    private let recorded = Mutex<[PrefixCheck]>([])

    /// - Parameter exempt: loopback addresses to allow, for tests of the address policy; nil allows private networks.
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

    /// Fetches with the same verdict for every prefix check.
    @discardableResult
    func fetch(
        _ url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        within budget: Duration = .seconds(60), verdict: DownloadVerdict = .anything
    ) async throws -> DownloadedFile {
        try await fetch(url, headers: headers, bytesMax: bytesMax, within: budget) { _, _ in verdict }
    }

    /// Fetches, and records each prefix check.
    @discardableResult
    func fetch(
        _ url: String, headers: [(name: String, value: String)] = [], bytesMax: Int = Limits.sourceBytesMax,
        within budget: Duration = .seconds(60),
        answer: @escaping @Sendable (Int, Bool) async throws -> DownloadVerdict
    ) async throws -> DownloadedFile {
        let request = DownloadRequest(url: url, headers: headers, bytesMax: bytesMax, deadline: .now + budget)
        return try await downloader.download(request, into: descriptor) { [self] bytes, isComplete in
            recorded.withLock { $0.append((bytes, isComplete)) }
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

    var prefixChecks: [PrefixCheck] { recorded.withLock { $0 } }

    /// The file's content.
    var content: Data { get throws { try Data(contentsOf: folder.url.appending(path: "body")) } }
}

extension DownloadVerdict {
    static let anything = accepted(
        bytesMax: .max, tooLarge: AttachPrepError(.limitExceeded, "The file is larger than any size."))
}

extension DownloadTimeouts {
    /// No delay between attempts; every other limit is the default.
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

/// Resolves only the given names; a name may have several answers, one for each query.
final class FixedResolver: NameResolver {
    private let answers: Mutex<[String: [Result<[IPAddress], NameResolutionError>]]>
    private let queries = Mutex<[String]>([])

    init(_ answers: [String: [String]] = [:]) {
        self.answers = Mutex(answers.mapValues { [.success($0.compactMap { IPAddress($0) })] })
    }

    init(inTurn answers: [String: [Result<[IPAddress], NameResolutionError>]]) {
        self.answers = Mutex(answers)
    }

    var names: [String] { queries.withLock { $0 } }

    func addresses(of host: String) async throws -> [IPAddress] {
        queries.withLock { $0.append(host) }
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
    var resolver = FixedResolver()

    func addresses(of host: String) async throws -> [IPAddress] {
        guard host.hasSuffix(".dead") else { return try await resolver.addresses(of: host) }
        // A stream without elements ends when its task is cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        throw CancellationError()
    }
}

/// A body whose bytes depend on their offset.
func patterned(_ count: Int) -> Data {
    Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
}

/// A row of a table: what a hostile server sends, and the code with which the download must fail.
struct HostileResponse: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: LoopbackResponse
    let code: ErrorCode

    init(_ name: String, _ code: ErrorCode, _ response: LoopbackResponse) {
        testDescription = name
        self.response = response
        self.code = code
    }
}

extension DownloadBench {
    /// Fetches the response from a new server; the download must fail with the row's code.
    ///
    /// - Returns: the requests that were made.
    @discardableResult
    func expectFailure(
        _ row: HostileResponse, within budget: Duration = .seconds(60),
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) async throws -> [LoopbackRequest] {
        let server = try LoopbackServer()
        server.serve("/cat", row.response)
        let error = try await failure(of: server.url("/cat"), within: budget)
        #expect(error.code == row.code, "\(error.message) \(error.detail ?? "")", sourceLocation: sourceLocation)
        return server.requests
    }
}
