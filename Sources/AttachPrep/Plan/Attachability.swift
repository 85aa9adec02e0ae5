package import MediaEngine
package import RichPush

/// Whether iOS attaches a file as it is: the table of `apple-attachments.md` 1.1, by container and codec. Pure.
package enum Attachability: Sendable, Hashable {
    /// As that type, byte for byte.
    case native(AttachmentType)
    /// Not attachable, and why.
    case foreign(reason: String)

    /// The decision.
    package init(_ media: InspectedMedia) {
        switch media.containerFault {
        case .mediaDataExceedsFile:
            self = .foreign(
                reason: "the media data box is declared longer than the file, though every sample is present")
        case .samplesNotCounted:
            self = .foreign(reason: "the WAV does not say how many samples it holds")
        case nil:
            self =
                switch media.kind {
                case .image: Self.image(media)
                case .audio: Self.sound(media)
                case .movie: Self.movie(media)
                }
        }
    }

    private static func image(_ media: InspectedMedia) -> Attachability {
        // iOS shows an animated PNG as a still, so delivering one as it is would lose the animation.
        if media.format == .png, media.isAnimated {
            return .foreign(reason: "an animated PNG is shown as a still picture")
        }
        return byType(media)
    }

    private static func byType(_ media: InspectedMedia) -> Attachability {
        guard let type = media.format.attachmentType else {
            return .foreign(reason: "\(media.format.mimeType) is not an attachable type")
        }
        return .native(type)
    }

    private static func sound(_ media: InspectedMedia) -> Attachability {
        guard media.format == .mpeg4Audio else { return byType(media) }
        let fitting: Set<String> = ["aac", "alac", "mp3", "mp3float", "ac3"]
        if let other = media.audio.first(where: { !fitting.contains($0.codec) }) {
            return .foreign(reason: "MPEG-4 audio with \(other.codec) is not played")
        }
        return .native(.mpeg4Audio)
    }

    private static func movie(_ media: InspectedMedia) -> Attachability {
        switch media.format {
        case .mpeg4: mpeg4(media)
        case .avi: avi(media)
        case .mpegProgramStream, .mpeg1Video, .mpeg2Video: mpeg(media)
        default: byType(media)
        }
    }

    private static func mpeg4(_ media: InspectedMedia) -> Attachability {
        let sounds: Set<String> = ["aac", "alac", "mp3", "mp3float", "ac3"]
        if let other = media.audio.first(where: { !sounds.contains($0.codec) }) {
            return .foreign(reason: "MP4 with \(other.codec) sound is not played")
        }
        guard let video = media.video else { return byType(media) }
        switch (video.codec, video.codecTag) {
        case ("h264", "avc1") where video.bitDepth == 8 && video.isChroma420: return .native(.mpeg4)
        case ("h264", "avc1"):
            return .foreign(reason: "H.264 as \(video.pixelFormat ?? "other than 8-bit 4:2:0") is not played")
        case ("hevc", "hvc1"): return .native(.mpeg4)
        default: return .foreign(reason: "MP4 with \(video.codec) tagged \(video.codecTag) is not played")
        }
    }

    private static func avi(_ media: InspectedMedia) -> Attachability {
        guard let video = media.video, ["h264", "mpeg4", "mjpeg"].contains(video.codec) else {
            return .foreign(reason: "AVI with \(media.video?.codec ?? "no picture") is not played")
        }
        return .native(.avi)
    }

    private static func mpeg(_ media: InspectedMedia) -> Attachability {
        guard let video = media.video, ["mpeg1video", "mpeg2video"].contains(video.codec) else {
            return .foreign(reason: "an MPEG stream with \(media.video?.codec ?? "no picture") is not played")
        }
        return byType(media)
    }
}
