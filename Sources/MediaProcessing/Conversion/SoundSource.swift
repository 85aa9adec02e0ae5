import LibAV
import RichPush
import SafeArithmetic

/// The stream of a file that is the sound, and how long it lasts by its samples.
struct SoundSource {
    let descriptor: CInt
    let format: MediaFormat
    let stream: StreamDescription
    /// Seconds.
    let duration: Double
    /// Bits a second, where known.
    let bitRate: Int?

    /// Reads the file once; what cannot be read is its end.
    ///
    /// - Throws: `media.corrupt` when no sample is there, `media.too_long`, `deadline.exceeded`.
    static func read(_ descriptor: CInt, format: MediaFormat, deadline: ContinuousClock.Instant) throws -> SoundSource {
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        let survey = try MovieSurvey.salvage(movie, deadline: deadline)
        guard let stream = movie.audio.first(where: { $0.isDecodable && survey.holds($0) }),
            let end = survey.times(of: stream)?.end
        else { throw empty }
        // A container with nothing else in it is as large as its sound.
        let isAlone = movie.streams.count == 1 && end > Self.secondsMeasurable
        // Bounded: floating point, until it is clamped.
        let measured = isAlone ? Int(clamping: Double(movie.demuxer.fileBytes) * 8 / end) : nil
        return SoundSource(
            descriptor: descriptor, format: format, stream: stream, duration: max(0, end),
            bitRate: measured ?? stream.bitRate)
    }

    /// Bit rates of shorter sounds are those of their headers.
    private static let secondsMeasurable = 0.1

    static let empty = AttachPrepError(.mediaCorrupt, "The sound has no samples; send an intact file.")

    /// The file opened anew, at its beginning.
    func open(deadline: ContinuousClock.Instant) throws -> OpenMovie {
        let movie = try OpenMovie.open(descriptor, format: format, isRecognized: true, deadline: deadline)
        movie.demuxer.discardStreams(except: [stream.index])
        return movie
    }
}

extension OpenMovie {
    /// The next packet, false at the end; what cannot be read is the end, for inspection has judged the file.
    func readOn(into packet: Packet) throws -> Bool {
        do {
            return try demuxer.read(into: packet)
        } catch {
            if error.isDeadline { throw error.corrupt }
            return false
        }
    }
}
