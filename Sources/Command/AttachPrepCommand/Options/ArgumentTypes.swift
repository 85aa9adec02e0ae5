public import ArgumentParser
import AttachPrep
public import AttachPrepJobs
import AttachPrepModel
import AttachPrepService
import FoundationEssentials
import MediaEngine
import MediaTypes

/// `30s`, `500ms`, `2m`, `7d` or plain seconds.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Double

    init(seconds: Double) {
        self.seconds = seconds
    }

    init?(argument: String) {
        guard let seconds = Quantity.seconds(argument) else { return nil }
        self.seconds = seconds
    }

    var defaultValueDescription: String {
        Int(exactly: seconds).map { "\($0)s" } ?? "\(seconds)s"
    }
}

/// An RFC 3339 time.
struct TimeArgument: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = Timestamp.date(argument) else { return nil }
        self.date = date
    }
}

// IDs, states and names as arguments.

extension JobID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension WebhookID: ExpressibleByArgument {
    public init?(argument: String) {
        self.init(argument)
    }
}

extension JobState: ExpressibleByArgument {}

extension JobPriority: ExpressibleByArgument {}

extension MediaKind: ExpressibleByArgument {}

extension ErrorCode: ExpressibleByArgument {}

extension WebhookState: ExpressibleByArgument {}

extension CampaignName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
