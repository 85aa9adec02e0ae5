import LibAV
import RichPush

extension LibAVError {
    /// The product's error for a failed call: the deadline's, or the one that this call's failure means.
    func fault(_ code: ErrorCode, _ message: String) -> AttachPrepError {
        isDeadline
            ? AttachPrepError(.deadlineExceeded, "The time for the request ran out while the file was read.")
            : AttachPrepError(code, message, detail: description)
    }

    /// The error for a call that only fails on a broken file.
    var corrupt: AttachPrepError { fault(.mediaCorrupt, "The file is damaged; send an intact one.") }
}

/// Runs libav calls whose failure means a broken file.
func readingMedia<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as LibAVError { throw error.corrupt }
}

/// Throws once the deadline is past; libav asks for it only where it reads.
func checkDeadline(_ deadline: ContinuousClock.Instant) throws {
    if ContinuousClock.now >= deadline {
        throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the movie was decoded.")
    }
}
