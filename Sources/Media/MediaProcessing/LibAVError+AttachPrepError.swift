import AttachPrepModel
import MediaLibraries
import MediaTypes

extension LibAVError {
    /// Converts a failed libav call: `deadline.exceeded` if the deadline passed, otherwise the given code.
    func attachPrepError(_ code: ErrorCode, message: String) -> AttachPrepError {
        isDeadline
            ? AttachPrepError(.deadlineExceeded, "The time for the request ran out while the file was read.")
            : AttachPrepError(code, message, detail: description)
    }

    /// The error for a call that fails only on a damaged file.
    var corrupt: AttachPrepError { attachPrepError(.mediaCorrupt, message: "The file is damaged; send an intact one.") }
}

/// Runs libav calls that fail only on a damaged file.
func readingMedia<Result>(_ body: () throws -> Result) throws -> Result {
    do { return try body() } catch let error as LibAVError { throw error.corrupt }
}

/// Throws `deadline.exceeded` once the deadline has passed; libav checks it only when it reads.
func checkDeadline(_ deadline: ContinuousClock.Instant) throws {
    if ContinuousClock.now >= deadline {
        throw AttachPrepError(.deadlineExceeded, "The time for the request ran out while the movie was decoded.")
    }
}

extension Demuxer {
    /// Reads the next packet; false at the end. A file that cannot be read to its end counts as far as it can be read.
    ///
    /// - Throws: `deadline.exceeded`.
    func readLeniently(into packet: Packet) throws -> Bool {
        do { return try read(into: packet) } catch {
            if error.isDeadline { throw error.corrupt }
            return false
        }
    }
}
