import Foundation
import Testing

@testable import AttachPrepJobs
@testable import JetStreamQueue

@Suite struct KeptJobBytesTests {
    @Test(arguments: [StoredJob.full(.queued), .full(.running), .full(.failed)])
    func `a job that is written reads the same`(_ job: StoredJob) throws {
        #expect(try StoredJob(job.bytes()) == job)
    }

    @Test(arguments: ["", "\"", "\\", "\u{0}\u{1F}\n\t", "a/b", "\u{7F}\u{2028}é👩‍👩‍👧", "{\"a\":\"b\\n\"}"])
    func `every text is written as what it is`(_ text: String) throws {
        var job = StoredJob.full(.failed)
        (job.source, job.request, job.error) = (text, text, text)
        #expect(try StoredJob(job.bytes()) == job)
    }

    @Test func `what is not there is not written`() throws {
        let bytes = try StoredJob.sample().bytes()
        let members = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(members["worker"] == nil && members["notices"] == nil)
        #expect(members["state"] as? String == "queued")
    }
}
