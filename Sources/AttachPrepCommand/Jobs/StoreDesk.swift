import AttachPrep
import AttachPrepJobs
import Logging
import RichPush

/// Jobs in a data folder, whether or not a service works on it, or on the servers of a queue.
struct StoreDesk: JobDesk {
    private let store: any JobStore & StoreKeeping
    private let receipts: any ReceiptStore

    /// - Throws: `queue.unavailable`.
    init(folder: String) async throws {
        let store = try await SQLiteStore.open(folder: folder, role: .command, feed: JobFeed(), logger: .none)
        (self.store, receipts) = (store, store)
    }

    /// - Throws: `queue.unavailable`.
    init(servers: QueueServers) async throws {
        store = try await JetStreamQueue.open(servers, feed: JobFeed(), logger: .errors)
        receipts = NoReceipts()
    }

    func close() async { await store.close() }

    func list(_ filter: JobFilter, after cursor: JobID?, limit: Int) async throws -> JobPage {
        try await store.list(filter, after: cursor, limit: limit)
    }

    func job(_ id: JobID) async throws -> Job {
        guard let job = try await store.job(id) else {
            throw AttachPrepError(.requestNotFound, "There is no job \(id).")
        }
        return job
    }

    func log(of id: JobID) async throws -> [JobLogLine] { try await store.log(of: id) }
    func retry(_ id: JobID) async throws -> Job { try await store.retry(id) }
    func cancel(_ id: JobID) async throws -> Job { try await store.cancel(id) }
    func purge(_ filter: JobFilter) async throws -> Int { try await store.purge(filter) }

    func webhooks(_ filter: WebhookFilter, after cursor: WebhookID?, limit: Int) async throws -> WebhookRows {
        let page = try await store.webhooks(filter, after: cursor, limit: limit)
        return WebhookRows(webhooks: page.webhooks.map(WebhookRow.init), next: page.next?.text)
    }

    func replay(_ filter: WebhookFilter) async throws -> Int { try await store.replayWebhooks(filter) }

    func campaigns(after cursor: CampaignCursor?, limit: Int) async throws -> CampaignPage {
        try await receipts.campaigns(after: cursor, limit: limit)
    }

    func campaign(_ name: CampaignName) async throws -> Campaign {
        guard let campaign = try await receipts.campaign(name) else {
            throw AttachPrepError(.requestNotFound, "There is no campaign \(name).")
        }
        return campaign
    }
}

extension Logger {
    /// What the NATS servers refuse is explained where the sentence is.
    fileprivate static var errors: Logger {
        var logger = Logger(label: "attachprep") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }

    fileprivate static var none: Logger { Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() } }
}
