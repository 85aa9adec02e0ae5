import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// An open movie or audio file: its streams, the selected video stream, and the origin of its timeline.
struct OpenMovie {
    let demuxer: Demuxer
    let streams: [StreamDescription]
    /// The video that is shown, by `TrackSelection`.
    private(set) var video: StreamDescription?
    /// The audio that can be heard, the one that is played first.
    private(set) var audio: [StreamDescription]
    /// Whether all tracks are disabled, so that a player shows nothing.
    let areTracksDisabled: Bool
    /// Other videos that could be shown.
    let otherVideos: [StreamDescription]
    /// Whether video and audio are described as in the header, until `complete(by:)`.
    private(set) var isIncomplete = false
    /// Container time in seconds that corresponds to 0 on the movie's timeline.
    let origin: Double

    /// Opens a file and reads until its codecs and rates are known.
    ///
    /// - Parameters:
    ///   - isRecognized: Whether the file is known to be a movie or audio file; a failure to open it then means damage.
    ///   - isForCopy: Whether nothing will be decoded, so that the header of an MP4 is sufficient.
    ///   - isForValidation: Whether frames will be decoded, so that libav need not decode any to describe the H.264 of
    ///     an MP4: that takes 40 ms for a large keyframe. `isIncomplete` tells whether this was possible.
    ///   - download: Set while the file is still being written.
    /// - Throws: `media.unrecognized` or `media.corrupt` when no demuxer opens it, `media.too_many_pixels` before
    ///   anything is decoded.
    static func open(
        _ descriptor: CInt, format: MediaFormat?, isRecognized: Bool, isForCopy: Bool = false,
        isForValidation: Bool = false, download: DownloadingFile? = nil, deadline: ContinuousClock.Instant
    ) throws -> OpenMovie {
        let demuxer = try demuxer(
            descriptor, format: format, isRecognized: isRecognized, downloading: download?.bytes, deadline: deadline)
        demuxer.packetsEnd = try packetsEnd(descriptor, demuxer: demuxer, deadline: deadline)
        let declared = demuxer.streams
        try declared.forEach(checkPixels)
        // The header of a fragmented file has no duration and describes the first fragment at most.
        if isForValidation, isISOBaseMedia(demuxer), demuxer.expectedDuration != nil,
            declared.allSatisfy(\.isDescribedByHeader)
        {
            var movie = OpenMovie(demuxer, try TrackSelection(demuxer))
            movie.isIncomplete = true
            return movie
        }
        let bytesMax = isForCopy && isISOBaseMedia(demuxer) ? 1 : nil
        do { try demuxer.findStreamInformation(pixelsMax: Limits.moviePixelsMax, bytesMax: bytesMax) } catch {
            throw error.corrupt
        }
        // A second demuxer counts frames, because this one stays at the beginning.
        let selection = try TrackSelection(demuxer) {
            try Self.demuxer(descriptor, format: format, isRecognized: isRecognized, deadline: deadline)
        }
        let movie = OpenMovie(demuxer, selection)
        try movie.streams.forEach(checkPixels)
        return movie
    }

    /// Where the frames of an MP3 or ADTS file end by our own parser, so that libav does not read its tags as frames.
    private static func packetsEnd(
        _ descriptor: CInt, demuxer: Demuxer, deadline: ContinuousClock.Instant
    ) throws -> Int64? {
        guard ["mp3", "aac"].contains(demuxer.name) else { return nil }
        let window = try ByteWindow(descriptor: descriptor, noun: "audio file", deadline: deadline)
        do {
            let end = demuxer.name == "mp3" ? try MP3Parser.parse(window).end : try ADTSParser.parse(window).end
            return Int64(clamping: end)
        } catch let error as AttachPrepError where error.code == .mediaCorrupt {
            return nil
        }
    }

    private init(_ demuxer: Demuxer, _ selection: TrackSelection) {
        self.demuxer = demuxer
        streams = demuxer.streams
        (video, audio, areTracksDisabled) = (selection.video, selection.audio, selection.areTracksDisabled)
        otherVideos = selection.otherVideos
        if let video {
            let frames = video.frameRate.flatMap { rate in demuxer.expectedDuration.map { Int(clamping: $0 * rate) } }
            WorkReporter.declare(pixels: video.width.multiplied(clamping: video.height), frames: frames)
        }
        // In MP4 and QuickTime the edit list has already been applied, so the timeline starts at 0.
        origin = Self.isISOBaseMedia(demuxer) ? 0 : demuxer.startTime ?? 0
    }

    /// Completes the descriptions by what decoders found in the data.
    ///
    /// - Parameter decoders: By the index of the stream.
    /// - Returns: False when a stream was not decoded, or is not as in the header; the file must then be opened again.
    /// - Throws: `media.too_many_pixels` for a frame that its data, not its header, declares to be shown too large.
    mutating func complete(by decoders: [Int: Decoder]) throws -> Bool {
        func decoded(_ declared: StreamDescription) throws -> StreamDescription? {
            guard let decoder = decoders[declared.index] else { return nil }
            let found = try readingMedia { try demuxer.stream(declared.index, decodedBy: decoder) }
            return found.flatMap { ($0.width, $0.height) == (declared.width, declared.height) ? $0 : nil }
        }
        let (foundVideo, foundAudio) = (try video.flatMap(decoded), try audio.compactMap(decoded))
        guard (foundVideo != nil) == (video != nil), foundAudio.count == audio.count else { return false }
        if let foundVideo { try Self.checkPixels(foundVideo) }
        (video, audio, isIncomplete) = (foundVideo, foundAudio, false)
        return true
    }

    static func isISOBaseMedia(_ demuxer: Demuxer) -> Bool { demuxer.name.hasPrefix("mov,") }

    var isISOBaseMedia: Bool { Self.isISOBaseMedia(demuxer) }

    /// Whether the container stores no presentation times, only decoding order: libav then counts from the first
    /// packet, and its frame times are late by the reorder delay.
    var countsPackets: Bool { demuxer.name == "avi" || demuxer.name == "mpegvideo" }

    /// Leaves the video stream out.
    mutating func dropVideo() { video = nil }

    private static func checkPixels(_ stream: StreamDescription) throws {
        guard stream.kind == .video, !stream.isAttachedPicture else { return }
        // Checks both sizes: a small stored frame can be declared to be very wide.
        let (displayed, stored) = (DisplayGeometry(stream), stream.width.multipliedReportingOverflow(by: stream.height))
        let isOver =
            stored.overflow || max(stored.partialValue, displayed.pixels) > Limits.moviePixelsMax
            || max(displayed.width, displayed.height) > Limits.imageSidePixelsMax
        guard isOver else { return }
        throw AttachPrepError(
            .mediaTooManyPixels,
            "The movie is \(displayed.width) x \(displayed.height), over \(Limits.moviePixelsMax) pixels; send a "
                + "smaller one.")
    }

    /// Opens the container and reads only its header.
    static func demuxer(
        _ descriptor: CInt, format: MediaFormat?, isRecognized: Bool, downloading: DownloadingBytes? = nil,
        deadline: ContinuousClock.Instant
    ) throws -> Demuxer {
        do {
            return try demuxer(descriptor, format: format, downloading: downloading, deadline: deadline)
        } catch {
            if isRecognized {
                throw error.attachPrepError(
                    .mediaCorrupt, message: "The file is damaged or incomplete; send an intact one.")
            }
            throw error.attachPrepError(.mediaUnrecognized, message: "The file is in no known movie or audio format.")
        }
    }

    private static func demuxer(
        _ descriptor: CInt, format: MediaFormat?, downloading: DownloadingBytes?, deadline: ContinuousClock.Instant
    ) throws(LibAVError) -> Demuxer {
        if let forced = format.flatMap(forcedDemuxer),
            let opened = try? Demuxer.open(descriptor, demuxer: forced, deadline: deadline)
        {
            return opened
        }
        let opened = try Demuxer.open(descriptor, demuxer: nil, downloading: downloading, deadline: deadline)
        // libav shows nothing of an edit without a duration, other players show all that follows.
        guard isISOBaseMedia(opened), ISOEditLists.hasEndlessEdit(descriptor, deadline: deadline) else {
            return opened
        }
        return try Demuxer.open(
            descriptor, demuxer: nil, downloading: downloading, appliesEdits: false, deadline: deadline)
    }

    /// Demuxers for audio without a magic number, which libav's probe misdetects after tags, and for transport streams,
    /// which it may take for audio.
    private static func forcedDemuxer(_ format: MediaFormat) -> String? {
        switch format {
        case .mp3, .mp2: "mp3"
        case .aac: "aac"
        case .ac3: "ac3"
        case .eac3: "eac3"
        case .mpegTransportStream: "mpegts"
        default: nil
        }
    }
}

extension StreamDescription {
    /// Whether the header of an MP4 says all that reading needs. It says how frames are reordered only for H.264; of
    /// other codecs libav needs no frame, or hardly any time.
    fileprivate var isDescribedByHeader: Bool {
        switch kind {
        case .video: isAttachedPicture || codec == "h264" && isDecodable && width > 0 && height > 0 && frameRate != nil
        case .audio: isDecodable && sampleRate > 0
        case .other: true
        }
    }
}

extension DownloadingFile {
    /// The equivalent for libav; nil if the total size is unknown.
    fileprivate var bytes: DownloadingBytes? {
        total.map { DownloadingBytes(total: $0) { [self] in waitForMore() } }
    }
}

extension OpenMovie {
    /// The format by content; nil if the container holds nothing that a notification can play.
    func format(hint: MediaFormat?, boxes: ISOBoxParser?, head: String) -> MediaFormat? {
        let isAudio = video == nil
        switch demuxer.name {
        case "mov,mp4,m4a,3gp,3g2,mj2": return isoBaseMediaFormat(brand: boxes?.majorBrand, isAudio: isAudio)
        case "avi": return .avi
        case "mpeg": return .mpegProgramStream
        case "mpegvideo": return video?.codec == "mpeg1video" ? .mpeg1Video : .mpeg2Video
        case "mpegts": return .mpegTransportStream
        case "matroska,webm": return isAudio ? .matroskaAudio : head.contains("webm") ? .webm : .matroska
        case "flv": return .flashVideo
        case "asf": return isAudio ? .windowsMediaAudio : .windowsMedia
        case "ogg": return isAudio ? oggFormat : .oggVideo
        default: return audioFormat(head: head)
        }
    }

    private func isoBaseMediaFormat(brand: String?, isAudio: Bool) -> MediaFormat {
        switch brand {
        case nil, "qt  ": isAudio ? .quickTimeAudio : .quickTime
        case "M4V ", "M4VH", "M4VP": isAudio ? .mpeg4Audio : .m4v
        case .some(let brand) where brand.hasPrefix("3g2"): isAudio ? .threeGPPAudio : .threeGPP2
        case .some(let brand) where brand.hasPrefix("3g"): isAudio ? .threeGPPAudio : .threeGPP
        default: isAudio ? .mpeg4Audio : .mpeg4
        }
    }

    private var oggFormat: MediaFormat? {
        switch audio.first?.codec {
        case "vorbis": .vorbis
        case "opus": .opus
        case "speex": .speex
        case "flac": .flac
        default: nil
        }
    }

    private func audioFormat(head: String) -> MediaFormat? {
        switch demuxer.name {
        case "aac": .aac
        case "ac3", "eac3": audio.first?.codec == "eac3" ? .eac3 : .ac3
        case "flac": .flac
        case "amr": .amr
        case "au": .au
        case "caf": .caf
        case "aiff": head.dropFirst(8).hasPrefix("AIFC") ? .aifc : .aiff
        case "wav": .wave
        // Layers I, II and III share the demuxer.
        case "mp3": audio.first?.codec == "mp3" ? .mp3 : .mp2
        case "wv": .wavPack
        case "tta": .trueAudio
        case "w64": .wave64
        default: nil
        }
    }
}
