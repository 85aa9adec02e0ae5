import AttachPrep
import AttachPrepJobs

/// An hour of ended jobs as it is shown: each minute's numbers, and how long jobs took.
struct PaceAnswer: Encodable {
    private let pace: JobPace

    init(_ pace: JobPace) {
        self.pace = pace
    }

    private enum CodingKeys: String, CodingKey {
        case until, minutes, succeeded, failed, medianSeconds, p95Seconds
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Timestamp.text(pace.until), forKey: .until)
        try encode(pace.latencies, into: &values)
        var minutes = values.nestedUnkeyedContainer(forKey: .minutes)
        for minute in pace.minutes {
            var members = minutes.nestedContainer(keyedBy: CodingKeys.self)
            try members.encode(minute.succeeded, forKey: .succeeded)
            try members.encode(minute.failed, forKey: .failed)
            try encode(minute.latencies, into: &members)
        }
    }

    private func encode(_ latencies: LatencyCounts, into values: inout KeyedEncodingContainer<CodingKeys>) throws {
        try values.encode(latencies.percentile(0.5)?.wholeMilliseconds, forKey: .medianSeconds)
        try values.encode(latencies.percentile(0.95)?.wholeMilliseconds, forKey: .p95Seconds)
    }
}
