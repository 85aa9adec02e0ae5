/// All that a worker and a service keep: what one driver does for one machine.
public typealias JobStore = JobQueue & JobCatalogue & ResultStore & WebhookOutbox & UploadStore
