/// How a consumer has to be.
package struct ConsumerShape: Sendable, Hashable {
    package var stream: String
    /// Nil for one that nobody shares and that goes with who made it.
    var name: String?
    package var description: String?
    package var filter: String
    /// A message that is not acknowledged for so long is given again; nil for one that acknowledges nothing.
    package var acknowledgeTime: Duration?
    package var start = Start.all

    package enum Start: Sendable, Hashable {
        case all
        /// The latest message of each subject, then what comes.
        case latestPerSubject
        /// From that number on.
        case number(UInt64)
    }

    package init(stream: String, filter: String) {
        self.stream = stream
        self.filter = filter
    }
}

/// A consumer's configuration in the API's words; durations are nanoseconds.
struct ConsumerConfiguration: Codable, Sendable {
    var durable_name: String?
    var description: String?
    var deliver_policy: String
    var opt_start_seq: UInt64?
    var ack_policy: String
    var ack_wait: Int64?
    var filter_subject: String?
    /// Never given up: who decides that a job has ended its workers too often is us.
    var max_deliver = -1
    /// Jobs that wait for a later time count here as well: a limit would stop the lane.
    var max_ack_pending: Int?
    var inactive_threshold: Int64?
    var mem_storage: Bool?

    init(_ shape: ConsumerShape) {
        durable_name = shape.name
        description = shape.description
        filter_subject = shape.filter
        switch shape.start {
        case .all: deliver_policy = "all"
        case .latestPerSubject: deliver_policy = "last_per_subject"
        case .number(let number):
            deliver_policy = "by_start_sequence"
            opt_start_seq = number
        }
        ack_policy = shape.acknowledgeTime == nil ? "none" : "explicit"
        ack_wait = shape.acknowledgeTime.map(\.nanoseconds)
        max_ack_pending = shape.acknowledgeTime == nil ? nil : -1
        if shape.name == nil {
            inactive_threshold = Duration.seconds(30).nanoseconds
            mem_storage = true
        }
    }
}

/// What the API says of a consumer.
struct ConsumerInformation: Decodable, Sendable {
    var name: String
    var config: ConsumerConfiguration
    /// Messages that it has not given to anybody yet.
    var num_pending: UInt64
    var delivered: Delivered?

    struct Delivered: Decodable, Sendable {
        /// The number in the stream of the last message that it gave for the first time.
        var stream_seq: UInt64
    }
}
