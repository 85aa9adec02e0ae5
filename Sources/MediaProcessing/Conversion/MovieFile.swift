import LibAV
import RichPush

/// Why a movie that was being written is no file.
enum MovieFailure: Error {
    /// It would have been too large; what the steering had learned.
    case overLimit(QualitySteering?)
    /// Nothing can be muxed so.
    case refused(LibAVError)
    /// It would not be through in time, by so many times.
    case behind(Double)
}

/// The MP4 that is written, from its first byte.
struct MovieFile {
    let output: OutputFile
    let bytesMax: Int
    let clock: WorkClock

    /// Writes whatever `body` writes; begins anew each time.
    ///
    /// - Parameter steering: What the steering knows when writing fails.
    /// - Returns: Bytes of the file.
    func write(steering: () -> QualitySteering?, _ body: (Muxer) throws -> Void) throws -> Int {
        let written = try readingMedia {
            try DescriptorOutput.open(output.descriptor, bytesMax: bytesMax, deadline: clock.deadline)
        }
        do {
            let muxer = try Muxer.open(.mpeg4, into: written)
            try body(muxer)
            return try muxer.finish()
        } catch let error as LibAVError {
            switch written.refusal {
            case .overLimit: throw MovieFailure.overLimit(steering())
            case .deadline:
                throw AttachPrepError(
                    .deadlineExceeded, "The time for the request ran out while the movie was written.")
            case .system(let code): throw OutputFile.failure(code)
            case nil: throw MovieFailure.refused(error)
            }
        }
    }
}
