import ArgumentParser
import AttachPrepJobs
import RichPush

/// Whether phones are asked to say that a notification arrived.
struct ReceiptOptionGroup: ParsableArguments {
    @Option(help: ArgumentHelp("Count arrivals under this name.", valueName: "name"))
    var campaign: String?

    @Option(help: ArgumentHelp("Phones that the payload is sent to.", valueName: "n"))
    var recipients = 1

    @Option(
        name: .customLong("receipts-url"),
        help: ArgumentHelp("Where phones say so: a service on the same --state, /v1/receipts.", valueName: "url"))
    var receiptsURL: String?

    func validate() throws {
        guard (campaign == nil) == (receiptsURL == nil) else {
            throw ValidationError("--campaign and --receipts-url go together; give both.")
        }
        guard recipients >= 1 else { throw ValidationError("--recipients is at least 1.") }
    }
}
