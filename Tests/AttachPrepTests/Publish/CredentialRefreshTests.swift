import Foundation
import Logging
import MediaTypes
import Synchronization
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// A scripted source and a clock that the test moves.
private final class Script: Sendable {
    private struct State {
        var date = Date(timeIntervalSince1970: 1_800_000_000)
        var results: [Result<IssuedCredentials, AttachPrepError>] = []
        var fetches = 0
        var gates: [CheckedContinuation<Void, Never>] = []
        var isHeld = false
    }

    private let state = Mutex(State())
    let provider: AWSCredentialProvider

    init() throws {
        let holder = Holder()
        provider = AWSCredentialProvider(
            AWSProfileReader(environment: ["HOME": "/nonexistent"]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { holder.script.date }, fetch: { _ in try await holder.script.fetch() })
        holder.set(self)
    }

    /// Breaks the cycle of initialization: the provider's clock is this script.
    private final class Holder: Sendable {
        private let box = Mutex<Script?>(nil)

        func set(_ script: Script) { box.withLock { $0 = script } }
        var script: Script {
            guard let script = box.withLock(\.self) else { preconditionFailure("set before the first call") }
            return script
        }
    }

    var date: Date { state.withLock(\.date) }
    var fetches: Int { state.withLock(\.fetches) }

    func advance(_ seconds: Double) { state.withLock { $0.date += seconds } }

    /// The next fetches have these results; the last one is repeated.
    func answer(_ results: Result<IssuedCredentials, AttachPrepError>...) {
        state.withLock { $0.results = results }
    }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let gates = state.withLock { state in
            defer { state.gates = [] }
            state.isHeld = false
            return state.gates
        }
        for gate in gates { gate.resume() }
    }

    private func fetch() async throws -> IssuedCredentials {
        let result = state.withLock { state in
            state.fetches += 1
            return state.results.count > 1 ? state.results.removeFirst() : state.results[0]
        }
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                if state.isHeld { state.gates.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
        return try result.get()
    }

    func issued(_ key: String, seconds: Double?) throws -> Result<IssuedCredentials, AttachPrepError> {
        let credentials = try AWSCredentials(
            accessKeyID: key, secretAccessKey: "hush", sessionToken: "mum", from: "here")
        return .success(
            IssuedCredentials(credentials: credentials, expiration: seconds.map { date.addingTimeInterval($0) }))
    }

    func key() async throws -> String {
        try await provider.credentials(before: .now + .seconds(30)).accessKeyID
    }

    /// Waits until a refresh in the background has had its effect.
    func until(_ key: String) async throws {
        try await pollUntil("the key \(key)") { try await self.key() == key }
    }
}

@Suite(.timeLimit(.minutes(2))) struct CredentialRefreshTests {
    private let script: Script
    private static let outage = AttachPrepError(.publishUnavailable, "down")

    init() throws {
        script = try Script()
    }

    @Test func `Credentials are obtained once and kept until shortly before their end`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        #expect(try await script.key() == "A")
        script.advance(3_299)
        #expect(try await script.key() == "A")
        #expect(script.fetches == 1)
    }

    @Test func `A refresh begins ahead of the end, and callers do not wait for it`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        #expect(try await script.key() == "A")
        script.answer(try script.issued("B", seconds: 7_200))
        script.hold()
        script.advance(3_301)
        #expect(try await script.key() == "A")
        #expect(try await script.key() == "A")
        script.release()
        try await script.until("B")
        #expect(script.fetches == 2)
    }

    @Test func `Many callers share one refresh`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        script.hold()
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await script.key() } }
            try await pollUntil("the fetch") { script.fetches == 1 }
            script.release()
            for try await key in group { #expect(key == "A") }
        }
        #expect(script.fetches == 1)
    }

    @Test func `Valid credentials are used while refreshes fail`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        #expect(try await script.key() == "A")
        script.answer(.failure(Self.outage))
        script.advance(3_310)
        #expect(try await script.key() == "A")
        try await pollUntil("the failure") { script.fetches == 2 }
        try await pollUntil("another attempt") {
            script.advance(2)
            let key = try await script.key()
            #expect(key == "A")
            return script.fetches >= 3
        }
        script.answer(try script.issued("B", seconds: 7_200))
        // The last failure may be recorded only now, and the next attempt waits from then on.
        try await pollUntil("the key B") {
            script.advance(2)
            return try await script.key() == "B"
        }
    }

    @Test func `Expired credentials are not used, and the error is that of the source`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        #expect(try await script.key() == "A")
        script.answer(.failure(Self.outage))
        script.advance(3_601)
        let error = await #expect(throws: AttachPrepError.self) { try await script.key() }
        #expect(error?.code == .publishUnavailable)
        // The error is repeated for a second instead of asking again.
        let fetches = script.fetches
        await #expect(throws: AttachPrepError.self) { try await script.key() }
        #expect(script.fetches == fetches)
        script.answer(try script.issued("B", seconds: 7_200))
        script.advance(2)
        #expect(try await script.key() == "B")
    }

    @Test func `A caller gives up at its deadline while the refresh continues for others`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        script.hold()
        let error = await #expect(throws: AttachPrepError.self) {
            try await script.provider.credentials(before: .now + .milliseconds(50))
        }
        #expect(error?.code == .deadlineExceeded)
        script.release()
        #expect(try await script.key() == "A")
        #expect(script.fetches == 1)
    }

    @Test func `A cancelled caller does not wait`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        script.hold()
        let task = Task { try await script.key() }
        try await pollUntil("the fetch") { script.fetches == 1 }
        task.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        script.release()
    }

    @Test func `Credentials without an end are replaced after a while, and used while that fails`() async throws {
        script.answer(try script.issued("A", seconds: nil))
        #expect(try await script.key() == "A")
        script.answer(.failure(Self.outage))
        script.advance(901)
        #expect(try await script.key() == "A")
        try await pollUntil("the failure") { script.fetches == 2 }
        #expect(try await script.key() == "A")
    }

    @Test func `A source that repeats credentials near their end is not asked in a loop`() async throws {
        let same = try script.issued("A", seconds: 400)
        script.answer(same)
        #expect(try await script.key() == "A")
        for _ in 0..<100 {
            script.advance(1)
            #expect(try await script.key() == "A")
        }
        #expect(script.fetches <= 3)
    }

    @Test func `Rejected credentials are replaced, at most once a minute`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        let first = try await script.provider.credentials(before: .now + .seconds(30))
        #expect(await !script.provider.isRenewed(first, before: .now + .seconds(30)))
        script.advance(61)
        script.answer(try script.issued("B", seconds: 3_600))
        #expect(await script.provider.isRenewed(first, before: .now + .seconds(30)))
        #expect(try await script.key() == "B")
        #expect(script.fetches == 2)
    }

    @Test func `Rejected credentials are kept when their renewal fails`() async throws {
        script.answer(try script.issued("A", seconds: 3_600))
        let first = try await script.provider.credentials(before: .now + .seconds(30))
        script.advance(61)
        script.answer(.failure(Self.outage))
        #expect(await !script.provider.isRenewed(first, before: .now + .seconds(30)))
        #expect(try await script.key() == "A")
    }
}

@Suite(.timeLimit(.minutes(2))) struct RoleCredentialsInUseTests {
    private static func bucket(_ source: LoopbackServer) throws -> FakeBucket {
        try FakeBucket(environment: [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": source.url("/creds"), "HOME": "/nonexistent",
        ])
    }

    private static func document(_ key: String) -> LoopbackResponse {
        .body(FakeCredentialServer.document(["AccessKeyId": key, "Token": "token-\(key)"]))
    }

    @Test func `Requests to the bucket are signed with the role's credentials`() async throws {
        let source = try LoopbackServer()
        source.serve("/creds", Self.document("ASIA1"))
        let bucket = try Self.bucket(source)
        bucket.server.serve(FakeBucket.path, .status(200, ["ETag": "\"1\""]))
        try await bucket.upload(bytes: 10)
        try await bucket.upload(bytes: 10)
        #expect(source.requests.count == 1 && bucket.server.requests.count == 2)
        for request in bucket.server.requests {
            #expect(request.headers["authorization"]?.contains("Credential=ASIA1/") == true)
            #expect(request.headers["authorization"]?.contains("x-amz-security-token") == true)
            #expect(request.headers["x-amz-security-token"] == "token-ASIA1")
        }
    }

    @Test func `A source that does not answer is a retryable error of the upload`() async throws {
        let source = try LoopbackServer()
        source.serve("/creds", .status(500))
        let bucket = try Self.bucket(source)
        let error = await #expect(throws: AttachPrepError.self) { try await bucket.upload(bytes: 10) }
        #expect(error?.code == .publishUnavailable && error?.isRetryable == true)
        #expect(bucket.server.requests.isEmpty)
    }
}
