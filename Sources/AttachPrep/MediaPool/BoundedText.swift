import MediaEngine
import RichPush

extension String {
    /// At most so many characters, control characters replaced: some of a child's texts come from files.
    func bounded(characters: Int) -> String {
        let scalars = unicodeScalars.prefix(characters).map { scalar in
            scalar.properties.generalCategory == .control ? "?" : scalar
        }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// As above, as long as a sentence may be.
    var boundedSentence: String { bounded(characters: Limits.childSentenceCharactersMax) }
}

extension IdentifiedMedia {
    var bounded: IdentifiedMedia {
        IdentifiedMedia(format: format, magicMIMEType: magicMIMEType.boundedSentence)
    }
}

extension InspectedMedia {
    var bounded: InspectedMedia {
        var media = self
        media.colour = colour?.boundedSentence
        if let video {
            media.video?.codec = video.codec.boundedSentence
            media.video?.codecTag = video.codecTag.boundedSentence
            media.video?.profile = video.profile?.boundedSentence
            media.video?.pixelFormat = video.pixelFormat?.boundedSentence
        }
        media.audio = audio.map { stream in
            var stream = stream
            stream.codec = stream.codec.boundedSentence
            return stream
        }
        return media
    }
}

extension RenderedMedia {
    var bounded: RenderedMedia {
        var media = self
        media.concessions = concessions.map(\.boundedSentence)
        media.warnings = warnings.map { PreparationWarning($0.code, $0.message.boundedSentence) }
        return media
    }
}
