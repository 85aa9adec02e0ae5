import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import Logging
import RichPush
import SQLStore
import SQLiteDatabase

/// Options for finding the media of a payload.
struct PayloadOptionGroup: ParsableArguments {
    @Flag(help: "Only report whether iOS and the app would show the media; download and write nothing.")
    var check = false

    @Flag(help: "Read the input as JSON Lines, even if its first line is not a complete payload.")
    var lines = false

    @Flag(help: "List the known dialects and the keys of their media.")
    var listDialects = false

    @Option(
        help: ArgumentHelp(
            "Dialect of the payload, such as airship or fcm (default: detected).", valueName: "name"))
    var dialect: String?

    @Option(
        help: ArgumentHelp(
            "Key of the media in a custom payload; a.b[].c matches each element of a list.", valueName: "a.b.c"))
    var mediaKey: String?

    @Flag(
        name: .customLong("no-neutral"),
        help: "Do not add the object attachprep, for apps whose SDK reads its own keys.")
    var noNeutral = false

    @Option(help: ArgumentHelp("Do not report warnings with this code; repeatable.", valueName: "code"))
    var silence: [String] = []

    /// The codes of `--silence`.
    ///
    /// - Throws: `ValidationError` for an unknown code.
    func silenced() throws -> Set<PayloadWarning.Code> {
        Set(
            try silence.map { text in
                if let code = PayloadWarning.Code(rawValue: text) { return code }
                let known = PayloadWarning.Code.allCases.map(\.rawValue).sorted().joined(separator: ", ")
                throw ValidationError("\"\(text)\" is not a warning code; --silence accepts \(known).")
            })
    }

    /// The dialect of `--dialect` or `--media-key`; nil to detect it.
    ///
    /// - Throws: `ValidationError` for an unknown dialect or an invalid key.
    func row() throws -> PayloadDialect? {
        do {
            return try PayloadRewriter.dialect(named: dialect, mediaKey: mediaKey)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}

/// Options for receipts: devices report that a notification arrived.
struct ReceiptOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("Request receipts, counted for this campaign.", valueName: "name"))
    var campaign: String?

    @Option(help: ArgumentHelp("Number of devices that the payload is sent to.", valueName: "n"))
    var recipients = 1

    @Option(
        name: .customLong("service-url"),
        help: ArgumentHelp(
            "Public URL of the service that counts receipts; it must use the same --data.", valueName: "url"))
    var serviceURL: String?

    func validate() throws {
        guard (campaign == nil) == (serviceURL == nil) else {
            throw ValidationError("--campaign and --service-url require each other; give both.")
        }
        guard recipients >= 1 else { throw ValidationError("--recipients must be at least 1.") }
    }

    /// The receipt token and URL for the payload; nil without `--campaign`.
    ///
    /// - Throws: `request.invalid`, `queue.unavailable`.
    func receipt(data: DataOptionGroup) async throws -> PushReceipt? {
        guard let campaign, let serviceURL else { return nil }
        guard let folder = data.folder else {
            throw AttachPrepError(.requestInvalid, "No data folder for receipts; give one with --data.")
        }
        let logger = Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() }
        let store = try await SQLiteStore.open(folder: folder, role: .command, feed: JobFeed(), logger: logger)
        do {
            let receiptService = ReceiptService(
                store: store, key: try await ReceiptKey.open(folder: folder), baseURL: serviceURL, logger: logger)
            let receipt = try await receiptService.receipt(campaign: campaign, recipients: recipients)
            await store.close()
            return receipt
        } catch {
            await store.close()
            throw error
        }
    }
}
