import AttachPrep
import Foundation
import RichPush

@testable import AttachPrepJobs

extension KeptJob {
    /// One that has just been put in.
    static func sample(at date: Date = .now) throws -> KeptJob {
        let submission = JobSubmission.sample()
        return try KeptJob(submission, shown: submission.request.shown, batch: nil, at: date)
    }
}
