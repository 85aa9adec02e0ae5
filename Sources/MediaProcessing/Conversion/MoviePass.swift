import LibAV
import MediaEngine
import RichPush

/// How a movie is to be written.
struct MoviePlan {
    enum Picture {
        case copied
        case encoded(MovieChoice, QualitySteering, sample: Frame)
    }

    enum Sound: Hashable {
        case none
        case copied
        case encoded(AudioEncoderSettings)
    }

    var picture: Picture
    var sound: Sound
    /// Seconds that are kept; nil for all.
    var cut: Double?
}

/// What a pass wrote.
struct MovieWritten {
    var bytes: Int
    /// Seconds.
    var duration: Double
    /// Where the pictures end, when time ended them.
    var stoppedAt: Double?
    /// How the steering ended, when pictures were encoded.
    var steering: QualitySteering?
    var videoBytes = 0
}

/// One writing of the movie, from its first packet to its last.
struct MoviePass {
    let source: MovieSource
    let output: OutputFile
    let bytesMax: Int
    let clock: WorkClock
    let canRestart: Bool

    /// - Parameter indexBytes: Room to leave for the index; nil moves the file for it.
    func run(_ plan: MoviePlan, indexBytes: Int? = nil) throws -> MovieWritten {
        var tracks: [any MovieTrack] = []
        let file = MovieFile(output: output, bytesMax: bytesMax, clock: clock)
        func written(indexBytes: Int?) throws -> Int {
            try file.write(steering: { (tracks.first as? EncodedPictureTrack)?.writer.steering }) { muxer in
                let movie = try source.open()
                tracks = try self.tracks(plan, movie, muxer)
                try muxer.writeHeader(indexBytes: indexBytes)
                try feed(tracks, from: movie)
            }
        }
        let bytes: Int
        do { bytes = try written(indexBytes: indexBytes) } catch MovieFailure.refused where indexBytes != nil {
            // The room did not suffice.
            bytes = try written(indexBytes: nil)
        }
        return describe(tracks, bytes: bytes, plan)
    }

    private func tracks(_ plan: MoviePlan, _ movie: OpenMovie, _ muxer: Muxer) throws -> [any MovieTrack] {
        let scan = source.scan
        let ledger = SoundLedger(plan, seconds: min(plan.cut ?? .infinity, scan.duration))
        var tracks: [any MovieTrack] = []
        switch plan.picture {
        case .copied: tracks.append(try copied(scan.video, scan.pictures, plan, movie, muxer))
        case .encoded(let choice, let steering, let sample):
            let watch = PassWatch(
                clock, end: min(choice.cut ?? .infinity, scan.end), secondsPerPicture: choice.secondsPerPicture,
                canRestart: canRestart)
            tracks.append(
                try EncodedPictureTrack(
                    movie, source, choice, sample: sample, steering: steering, watch: watch, ledger: ledger,
                    muxer: muxer))
        }
        guard let audio = scan.audio, let sounds = scan.sounds else { return tracks }
        switch plan.sound {
        case .none: break
        case .copied: tracks.append(try copied(audio, sounds, plan, movie, muxer))
        case .encoded(let settings):
            tracks.append(
                try EncodedSoundTrack(
                    movie, audio, timeline: scan.timeline, settings: settings, cut: plan.cut, ledger: ledger,
                    muxer: muxer))
        }
        return tracks
    }

    private func copied(
        _ stream: StreamDescription, _ scan: StreamScan, _ plan: MoviePlan, _ movie: OpenMovie, _ muxer: Muxer
    ) throws -> CopiedTrack {
        let track = try CopiedTrack(stream, of: movie, scan: scan, timeline: source.scan.timeline, muxer: muxer)
        track.cut = plan.cut ?? .infinity
        return track
    }

    private func feed(_ tracks: [any MovieTrack], from movie: OpenMovie) throws {
        movie.demuxer.discardStreams(except: Set(tracks.map(\.source)))
        let packet = try Packet()
        while !isOver(tracks), try movie.readOn(into: packet) {
            for track in tracks where track.source == packet.streamIndex && !track.isOver { try track.take(packet) }
        }
        try tracks.first?.finish()
        if let picture = tracks.first as? EncodedPictureTrack, picture.isStopped {
            for case let sound as EncodedSoundTrack in tracks { sound.stop(at: picture.writer.end) }
        }
        for track in tracks.dropFirst() { try track.finish() }
    }

    /// Sound goes on after pictures that were cut by plan, pictures that were stopped end everything.
    private func isOver(_ tracks: [any MovieTrack]) -> Bool {
        if (tracks.first as? EncodedPictureTrack)?.isStopped == true { return true }
        return tracks.allSatisfy(\.isOver)
    }

    private func describe(_ tracks: [any MovieTrack], bytes: Int, _ plan: MoviePlan) -> MovieWritten {
        let scan = source.scan
        let cut = plan.cut ?? .infinity
        var written = MovieWritten(bytes: bytes, duration: min(scan.end, cut))
        for track in tracks {
            switch track {
            case let picture as EncodedPictureTrack:
                written.duration = picture.writer.end
                written.steering = picture.writer.steering
                written.videoBytes = picture.writer.bytesWritten
                if picture.isStopped { written.stoppedAt = picture.writer.end }
            case let sound as EncodedSoundTrack: written.duration = max(written.duration, sound.end)
            default:
                if track.source == scan.audio?.index, written.stoppedAt == nil {
                    written.duration = max(written.duration, min(cut, scan.sounds?.end.map(scan.timeline.output) ?? 0))
                }
            }
        }
        return written
    }
}
