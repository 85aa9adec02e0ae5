import AttachPrepModel
import MediaLibraries

/// A track of the source that the result does not have.
struct OmittedTrack: Sendable, Hashable {
    private let kind: String
    private let name: String
    private let isDecodable: Bool

    init(_ stream: StreamDescription) {
        kind = stream.kind == .video ? "video" : "audio"
        // libav has no name for codecs that it does not know.
        name = stream.codec == "none" ? stream.codecTag : stream.codec
        isDecodable = stream.isDecodable
    }

    var sentence: String {
        let which = name.isEmpty ? "A track of \(kind)" : "A track of \(kind) (\(name))"
        let reason = isDecodable ? "a notification plays only one" : "it cannot be decoded"
        return "\(which) was left out: \(reason)."
    }
}

/// What a conversion lost, as warnings: everything that went in and did not come out has one with its reason.
struct MediaLoss {
    /// Seconds of audio below which nothing is heard: padding of an encoder.
    private static let secondsMin = 0.1

    let tracks: [OmittedTrack]
    /// Packets of the video that did not decode.
    var packets = 0
    /// Seconds of the audio that did not decode.
    var seconds = 0.0

    var warnings: [PreparationWarning] {
        var sentences = tracks.map(\.sentence)
        if packets > 0 {
            let what = packets == 1 ? "A frame was dropped: it does" : "\(packets) frames were dropped: they do"
            sentences.append("\(what) not decode.")
        }
        if seconds >= Self.secondsMin {
            sentences.append("\(AudioReport.length(seconds)) of the audio are silent: they do not decode.")
        }
        return sentences.map { PreparationWarning(.mediaLost, $0) }
    }
}
