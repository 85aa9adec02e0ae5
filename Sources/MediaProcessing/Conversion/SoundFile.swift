import LibAV
import RichPush

/// The M4A that is written.
struct SoundFile {
    let output: OutputFile
    let bytesMax: Int
    let deadline: ContinuousClock.Instant

    /// Writes encoded packets.
    ///
    /// - Returns: Bytes of the file; nil when it would have been too large.
    func write(_ packets: some Sequence<Packet>, of encoder: Encoder) throws -> Int? {
        try write { muxer throws(LibAVError) in
            let stream = try muxer.addStream(of: encoder)
            try muxer.writeHeader()
            // Writing empties a packet, and this may not be the last time.
            for packet in packets {
                try muxer.write(packet.reference(), stream: stream, timeBase: encoder.timeBase)
            }
        }
    }

    /// Writes whatever `body` writes.
    ///
    /// - Throws: `LibAVError` when the muxer refuses, `AttachPrepError` when the system or the clock does.
    func write(_ body: (Muxer) throws -> Void) throws -> Int? {
        let written = try DescriptorOutput.open(output.descriptor, bytesMax: bytesMax, deadline: deadline)
        do {
            let muxer = try Muxer.open(.mpeg4Audio, into: written)
            try body(muxer)
            return try muxer.finish()
        } catch {
            switch written.refusal {
            case .overLimit: return nil
            case .deadline:
                throw AttachPrepError(
                    .deadlineExceeded, "The time for the request ran out while the sound was written.")
            case .system(let code): throw OutputFile.failure(code)
            case nil: throw error
            }
        }
    }
}
