import ArgumentParser
import AttachPrep
import AttachPrepJobs
import Logging
import RichPush

/// Whether phones are asked to say that a notification arrived.
struct ReceiptOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("Count arrivals under this name.", valueName: "name"))
    var campaign: String?

    @Option(help: ArgumentHelp("Phones that the payload is sent to.", valueName: "n"))
    var recipients = 1

    @Option(
        name: .customLong("service-url"),
        help: ArgumentHelp("Where phones reach the service that counts; it has the same --state.", valueName: "url"))
    var serviceURL: String?

    func validate() throws {
        guard (campaign == nil) == (serviceURL == nil) else {
            throw ValidationError("--campaign and --service-url go together; give both.")
        }
        guard recipients >= 1 else { throw ValidationError("--recipients is at least 1.") }
    }

    /// The right to be counted; nil when nobody counts.
    ///
    /// - Throws: `request.invalid`, `queue.unavailable`.
    func receipt(state: StateOptionGroup) async throws -> PushReceipt? {
        guard let campaign, let serviceURL else { return nil }
        guard let folder = state.folder else {
            throw AttachPrepError(.requestInvalid, "There is no folder to count arrivals in; give one with --state.")
        }
        let logger = Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() }
        let store = try await SQLiteStore.open(folder: folder, role: .command, feed: JobFeed(), logger: logger)
        do {
            let office = ReceiptOffice(
                store: store, key: try await ReceiptKey.open(folder: folder), baseURL: serviceURL, logger: logger)
            let receipt = try await office.receipt(campaign: campaign, recipients: recipients)
            await store.close()
            return receipt
        } catch {
            await store.close()
            throw error
        }
    }
}
