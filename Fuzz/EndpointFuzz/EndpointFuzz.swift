import Foundation
import FuzzSupport
import Logging
import MediaTypes
import Metrics
import PeerSupport
import Synchronization

@testable import AttachPrep
@testable import AttachPrepJobs
@testable import AttachPrepModel
@testable import Curl

/// Fuzzes uploads against a hostile S3 endpoint, and webhooks against a hostile receiver.
@main enum EndpointFuzz {
    private static let peer = ScriptedPeer()
    private static let logger = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
    nonisolated(unsafe) private static var descriptors = DescriptorCount()
    private static let small = [UInt8](repeating: 0x61, count: 5_000)
    /// The uploaded files: a small one, and one that needs two parts.
    nonisolated(unsafe) private static let files = [small.count, Limits.publishPartBytes + 1].map { count in
        let file = MemoryFile()
        file.replace(with: [(0, small), (count, [])])
        return file
    }
    private static let digests = files.map { UploadDigest.sha256(of: $0.bytes) }
    private static let manifest: String = {
        let rejection = AttachPrepError(.requestInvalid, "No.")
        return (try? String(Manifest(rejecting: AttachmentRequest(source: "a"), rejection).json())) ?? "{}"
    }()

    private static let deadline = Duration.milliseconds(400)
    /// Additional time for a loaded machine and the address sanitizer.
    private static let grace = Duration.seconds(3)

    static func main() {
        _ = (peer.port, digests)
        FuzzTarget.run { input in try play(input) }
    }

    private static func play(_ input: FuzzInput) throws {
        var input = input
        let kind = input.byte()
        // Few inputs upload two parts, since 8 MB each take long.
        let number = kind == 0x4D ? 1 : 0
        let script = EndpointScript(input, port: peer.port, manifest: manifest, sha256: digests[number])
        peer.begin { script.steps(for: $0) }
        let stopwatch = FairStopwatch()
        if kind == 0x4D || kind % 8 < 4 {
            try publish(kind == 0x4D ? 0 : kind % 8, number)
        } else {
            try call(kind, script)
        }
        let took = stopwatch.took
        peer.end()
        Invariant.hold(took < deadline + grace, "transfers end by their deadline: took \(took)")
        descriptors.check()
    }

    // MARK: S3

    private static func client() throws -> S3Client {
        var settings = S3Settings(
            try S3Location("s3://bucket/prefix"),
            environment: [
                "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_CONFIG_FILE": "/nonexistent",
                "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
            ])
        settings.endpoint = "http://127.0.0.1:\(peer.port)"
        return try S3Client(settings, policy: DownloadPolicy(), logger: logger, backOff: .milliseconds(1))
    }

    private static let lane = try? BlockingThread()

    private static func publish(_ kind: UInt8, _ number: Int) throws {
        guard let lane else { Invariant.broken("there is a thread for files") }
        let client = try client()
        let cleanup = UploadCleanup(client, logger: logger)
        let (file, digest) = (files[number].descriptor, digests[number])
        let bytes = number == 0 ? small.count : Limits.publishPartBytes + 1
        let error = Waiting.result { () -> (any Error)? in
            let end = ContinuousClock.now + deadline
            defer { withExtendedLifetime(cleanup) {} }
            do {
                switch kind {
                case 0, 1:
                    let object = S3Object(
                        key: "prefix/a/b.jpg", descriptor: file, bytes: bytes, sha256: digest,
                        mimeType: "image/jpeg", name: "b.jpg", cacheControl: "no-cache")
                    try await S3Upload(
                        object: object, client: client, blocking: lane, deadline: end, cleanup: cleanup
                    ).run()
                case 2: try await look(client, before: end)
                default: try await probe(client, cleanup, before: end)
                }
            } catch {
                await finish(client, cleanup)
                return error
            }
            await finish(client, cleanup)
            return nil
        }
        check(error)
    }

    /// Like `S3Target.shutdown`, with less time for aborting uploads.
    private static func finish(_ client: S3Client, _ cleanup: UploadCleanup) async {
        await cleanup.finish(within: .milliseconds(200))
        await client.shutdown()
    }

    /// Reads a published manifest, like `S3Target`.
    private static func look(_ client: S3Client, before end: ContinuousClock.Instant) async throws {
        var request = S3Request(.get, client.bucket.location.key("a/\(Manifest.fileName)"))
        request.accepted = [404]
        request.responseBytesMax = Limits.publishedManifestBytesMax
        let answer = try await client.send(request, before: end)
        Invariant.hold(answer.body.count <= request.responseBytesMax, "an answer is bounded")
        guard answer.status == 200, answer.isWhole, let manifest = try? Manifest(json: answer.body) else { return }
        Invariant.hold((try? manifest.json()) != nil, "a manifest that was found can be written")
    }

    /// Like `S3Target.probe`.
    private static func probe(
        _ client: S3Client, _ cleanup: UploadCleanup, before end: ContinuousClock.Instant
    ) async throws {
        let begun = S3Request(.post, "prefix/probe", query: ["uploads": ""])
        let id = try await client.send(begun, before: end) { answer throws(S3Error) in
            guard let id = XMLText.first("UploadId", in: answer.body) else {
                throw .unexpectedResponse(client.bucket, what: "no UploadId")
            }
            return id
        }
        try await cleanup.abortUpload(id, of: "prefix/probe", before: end)
    }

    private static func check(_ error: (any Error)?) {
        guard let error else { return }
        guard let error = error as? AttachPrepError else { Invariant.broken("unexpected error type: \(error)") }
        Trace.show("=== \(error)")
        Invariant.hold(error.code != .internal, "no endpoint makes an internal error: \(error.detail ?? "")")
        let isPlain = error.message.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        Invariant.hold(isPlain, "a message has no control characters: \(error.message.debugDescription)")
        Invariant.hold(error.message.utf8.count < 2_000, "a message is short")
    }

    // MARK: Webhooks

    private static func client(_ kind: UInt8) throws -> HTTPClient {
        var policy = DownloadPolicy()
        policy.assumesHTTP2 = kind & 0x80 != 0
        var timeouts = DownloadTimeouts()
        timeouts.connect = .milliseconds(100)
        timeouts.stall = .milliseconds(50)
        timeouts.stallBytesMin = 1
        let loopback = Set([IPAddress("127.0.0.1")].compactMap(\.self))
        return try HTTPClient(policy: policy, timeouts: timeouts, exemptAddresses: loopback)
    }

    private static func call(_ kind: UInt8, _ script: EndpointScript) throws {
        let client = try client(kind)
        if kind & 1 == 0 {
            try deliver(client)
        } else {
            let hasSurplus = try send(client, kind)
            Invariant.hold(!hasSurplus || script.sendsForeignBytes, "no byte of an unsolicited response")
        }
    }

    /// - Returns: Whether a response contains bytes of an unsolicited response.
    private static func send(_ client: HTTPClient, _ kind: UInt8) throws -> Bool {
        let methods: [HTTPClientRequest.Method] = [.get, .post, .delete, .head]
        let url = "http://127.0.0.1:\(peer.port)/in"
        let (error, hasSurplus) = Waiting.result { () -> ((any Error)?, Bool) in
            var (thrown, hasSurplus) = ((any Error)?.none, false)
            for _ in 0..<2 {
                var call = HTTPClientRequest(
                    methods[Int(kind >> 4 & 3)], url, body: kind >> 4 & 3 == 1 ? small : [], responseBytesMax: 1_000,
                    deadline: .now + deadline / 2)
                call.isRepeatable = kind & 0x40 == 0
                do {
                    let answer = try await client.send(call)
                    Invariant.hold(answer.body.count <= 1_000, "an answer is bounded")
                    hasSurplus = hasSurplus || answer.body.contains(Content.surplus)
                } catch {
                    thrown = error
                }
            }
            await client.shutdown()
            return (thrown, hasSurplus)
        }
        check(error)
        return hasSurplus
    }

    /// Sends three webhooks concurrently, and cancels them when they take too long.
    private static func deliver(_ client: HTTPClient) throws {
        let outbox = RecordingOutbox()
        let secrets = try WebhookSecrets(literals: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], logger: logger)
        let sender = WebhookSender(
            outbox: outbox, secrets: secrets, client: client, feed: nil,
            metrics: WebhookMetrics(factory: NOOPMetricsHandler.instance), logger: logger)
        let notice = WebhookNotice(
            url: "http://127.0.0.1:\(peer.port)/in?token=s", event: .jobDead, body: #"{"type":"job.dead"}"#)
        let webhooks = (0..<3).map { tries in
            Webhook(id: .make(), job: .make(), notice: notice, state: .pending, attempts: tries * 4, createdAt: .now)
        }
        Waiting.result {
            let deliveries = webhooks.map { webhook in Task { await sender.deliver(webhook) } }
            let alarm = Task {
                try? await Task.sleep(for: deadline)
                for delivery in deliveries { delivery.cancel() }
            }
            for delivery in deliveries { await delivery.value }
            alarm.cancel()
            await client.shutdown()
        }
        let longest = Limits.webhookScheduleSeconds.max() ?? 0
        for outcome in outbox.outcomes.withLock({ $0 }) {
            switch outcome {
            case .delivered(let status): Invariant.hold(200...299 ~= status, "delivered with \(status)")
            case .retry(let date, _, let error):
                let wait = date.timeIntervalSinceNow
                Invariant.hold(wait > -5 && wait <= longest * 1.2, "a retry in \(wait) s")
                check(sentence: error)
            case .givenUp(_, let error): check(sentence: error)
            }
        }
    }

    private static func check(sentence: String) {
        Invariant.hold(!sentence.contains("token=s"), "the query of the URL is not shown")
        Invariant.hold(sentence.unicodeScalars.allSatisfy { $0.value >= 0x20 }, "no control characters: \(sentence)")
    }
}

/// Records the results of webhooks.
private final class RecordingOutbox: WebhookOutbox {
    let outcomes = Mutex<[WebhookDeliveryResult]>([])

    func record(_ id: WebhookID, _ outcome: WebhookDeliveryResult) async throws {
        outcomes.withLock { $0.append(outcome) }
    }
    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] { [] }
    func giveUpWebhooks(to url: String, error: String) async throws -> Int { 0 }
    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage {
        WebhookPage(webhooks: [], next: nil)
    }
    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int { 0 }
    func webhookCounts() async throws -> [WebhookState: Int] { [:] }
    func notify(_ url: String, whenDone batch: JobID) async throws {}
    func nextWebhookDue() async throws -> Date? { nil }
}
