import Foundation
import MediaTypes
import Synchronization

@testable import AttachPrepJobs

/// An in-memory outbox with a clock that the test sets; tests can wait for changes to its webhooks.
final class FakeOutbox: WebhookOutbox {
    private struct State {
        var webhooks: [Webhook] = []
        var leased: Set<WebhookID> = []
        var now = Date(timeIntervalSince1970: 1_800_000_000)
        var failuresLeft = 0
        var watchers: [(condition: @Sendable ([Webhook]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }

    struct OutboxError: Error {}

    private let state = Mutex(State())

    var now: Date { state.withLock { $0.now } }
    var webhooks: [Webhook] { state.withLock { $0.webhooks } }

    func advance(by seconds: Double) {
        state.withLock { $0.now += seconds }
    }

    /// Makes the next `count` calls fail.
    func fail(_ count: Int) {
        state.withLock { $0.failuresLeft = count }
    }

    var failuresLeft: Int { state.withLock { $0.failuresLeft } }

    @discardableResult
    func add(_ url: String, body: String = "{}", event: WebhookNotice.Event = .attachmentPrepared) -> WebhookID {
        state.withLock { state in
            var webhook = Webhook(
                id: .make(), job: .make(), notice: WebhookNotice(url: url, event: event, body: body), state: .pending,
                attempts: 0, createdAt: state.now)
            webhook.nextAt = state.now
            state.webhooks.append(webhook)
            return webhook.id
        }
    }

    /// Waits until a condition on the webhooks holds; it is evaluated after every change.
    func until(_ condition: @escaping @Sendable ([Webhook]) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.watchers.append((condition, continuation)) }
                notifyWatchers()
                if Task.isCancelled { endWaits() }
            }
        } onCancel: {
            endWaits()
        }
    }

    /// Ends all waits, for a test that was cancelled by its time limit.
    private func endWaits() {
        let watchers = state.withLock { state in
            defer { state.watchers = [] }
            return state.watchers
        }
        watchers.forEach { $0.continuation.resume() }
    }

    private func notifyWatchers() {
        let satisfied = state.withLock { state in
            let satisfied = state.watchers.filter { $0.condition(state.webhooks) }
            let webhooks = state.webhooks
            state.watchers.removeAll { $0.condition(webhooks) }
            return satisfied.map(\.continuation)
        }
        satisfied.forEach { $0.resume() }
    }

    private func change<Value>(_ body: (inout State) throws -> Value) throws -> Value {
        defer { notifyWatchers() }
        return try state.withLock { state in
            guard state.failuresLeft == 0 else {
                state.failuresLeft -= 1
                throw OutboxError()
            }
            return try body(&state)
        }
    }

    // MARK: The outbox

    func claimWebhooks(_ count: Int, lease: Duration) async throws -> [Webhook] {
        try change { state in
            var inFlight: [String: Int] = [:]
            for webhook in state.webhooks where state.leased.contains(webhook.id) {
                inFlight[webhook.notice.host, default: 0] += 1
            }
            let due = state.webhooks.filter { webhook in
                guard webhook.state == .pending, !state.leased.contains(webhook.id),
                    webhook.nextAt.map({ $0 <= state.now }) ?? false
                else { return false }
                inFlight[webhook.notice.host, default: 0] += 1
                return inFlight[webhook.notice.host, default: 0] <= Limits.webhooksPerHostMax
            }
            state.leased.formUnion(due.prefix(count).map(\.id))
            return Array(due.prefix(count))
        }
    }

    func record(_ id: WebhookID, _ outcome: WebhookDeliveryResult) async throws {
        try change { state in
            guard let index = state.webhooks.firstIndex(where: { $0.id == id }) else { return }
            state.leased.remove(id)
            state.webhooks[index].attempts += 1
            switch outcome {
            case .delivered(let status):
                state.webhooks[index].end(.delivered, status, nil, state.now)
            case .retry(let date, let status, let error):
                state.webhooks[index].nextAt = date
                state.webhooks[index].lastStatus = status
                state.webhooks[index].lastError = error
            case .givenUp(let status, let error):
                state.webhooks[index].end(.givenUp, status, error, state.now)
            }
        }
    }

    func giveUpWebhooks(to url: String, error: String) async throws -> Int {
        try change { state in
            let indices = state.webhooks.indices.filter {
                state.webhooks[$0].state == .pending && state.webhooks[$0].notice.url == url
            }
            for index in indices { state.webhooks[index].end(.givenUp, nil, error, state.now) }
            return indices.count
        }
    }

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookPage {
        WebhookPage(webhooks: webhooks, next: nil)
    }

    func replayWebhooks(_ filter: WebhookFilter) async throws -> Int {
        try change { state in
            let indices = state.webhooks.indices.filter { filter.ids?.contains(state.webhooks[$0].id) ?? true }
            for index in indices {
                state.webhooks[index].state = .pending
                state.webhooks[index].attempts = 0
                state.webhooks[index].nextAt = state.now
            }
            return indices.count
        }
    }

    func webhookCounts() async throws -> [WebhookState: Int] {
        webhooks.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
    }

    func notify(_ url: String, whenDone batch: JobID) {}

    func nextWebhookDue() async throws -> Date? {
        try change { state in
            state.webhooks.filter { $0.state == .pending && !state.leased.contains($0.id) }.compactMap(\.nextAt).min()
        }
    }
}

extension Webhook {
    fileprivate mutating func end(_ state: WebhookState, _ status: Int?, _ error: String?, _ date: Date) {
        self.state = state
        (nextAt, endedAt, lastStatus, lastError) = (nil, date, status, error)
    }
}
