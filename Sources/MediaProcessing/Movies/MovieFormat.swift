import LibAV
import RichPush

extension OpenMovie {
    /// The format by what is inside; nil where a container holds nothing a notification could play.
    func format(hint: MediaFormat?, boxes: BoxWalk?, head: String) -> MediaFormat? {
        let isSound = video == nil
        switch demuxer.name {
        case "mov,mp4,m4a,3gp,3g2,mj2": return isoBaseMediaFormat(brand: boxes?.majorBrand, isSound: isSound)
        case "avi": return .avi
        case "mpeg": return .mpegProgramStream
        case "mpegvideo": return video?.codec == "mpeg1video" ? .mpeg1Video : .mpeg2Video
        case "mpegts": return .mpegTransportStream
        case "matroska,webm": return isSound ? .matroskaAudio : head.contains("webm") ? .webm : .matroska
        case "flv": return .flashVideo
        case "asf": return isSound ? .windowsMediaAudio : .windowsMedia
        case "ogg": return isSound ? oggFormat : .oggVideo
        default: return soundFormat(head: head)
        }
    }

    private func isoBaseMediaFormat(brand: String?, isSound: Bool) -> MediaFormat {
        switch brand {
        case nil, "qt  ": isSound ? .quickTimeAudio : .quickTime
        case "M4V ", "M4VH", "M4VP": isSound ? .mpeg4Audio : .m4v
        case .some(let brand) where brand.hasPrefix("3g2"): isSound ? .threeGPPAudio : .threeGPP2
        case .some(let brand) where brand.hasPrefix("3g"): isSound ? .threeGPPAudio : .threeGPP
        default: isSound ? .mpeg4Audio : .mpeg4
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

    private func soundFormat(head: String) -> MediaFormat? {
        switch demuxer.name {
        case "aac": .aac
        case "ac3", "eac3": audio.first?.codec == "eac3" ? .eac3 : .ac3
        case "flac": .flac
        case "amr": .amr
        case "au": .au
        case "caf": .caf
        case "aiff": head.dropFirst(8).hasPrefix("AIFC") ? .aifc : .aiff
        case "wav": .wave
        // Layers I and II share the demuxer.
        case "mp3": audio.first?.codec == "mp3" ? .mp3 : .mp2
        case "wv": .wavPack
        case "tta": .trueAudio
        case "w64": .wave64
        default: nil
        }
    }
}
