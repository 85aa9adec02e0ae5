public import ArgumentParser
public import AttachPrepJobs

// What jobs and webhooks are called, as it is typed.

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

extension WebhookState: ExpressibleByArgument {}

extension CampaignName: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
