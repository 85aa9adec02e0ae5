import Glibc
import MediaEngine
import RichPush

/// Whether what a child says can be: one that a file took over says what it likes, and its numbers reach arithmetic,
/// its sentences the manifest.
struct AnswerCheck {
    let job: MediaJob

    /// The content with its sentences bounded and without control characters.
    ///
    /// - Throws: `ChildFault.nonsense`, saying what cannot be.
    func checked(_ content: MediaAnswerMessage.Content) throws -> MediaAnswerMessage.Content {
        switch (content, job.call) {
        case (.ready, _): return .ready
        case (.progress(let media), .render(let request)): return .progress(try checked(media, of: request))
        case (.failure(let error), _): return .failure(try checked(error))
        case (.answer(.identified(let media)), .identify):
            return .answer(.identified(media.bounded))
        case (.answer(.inspected(let media, let early)), .inspect(let request)):
            return .answer(.inspected(try checked(media), try early.map { try checked($0, of: request) }))
        case (.answer(.rendered(let media)), .render(let request)):
            return .answer(.rendered(try checked(media, of: request)))
        case (.answer(.described(let description)), .describe):
            return .answer(.described(try checked(description)))
        case (.progress, _), (.answer, _): throw ChildFault.nonsense("an answer to another question")
        }
    }

    // MARK: Failures

    /// What media work can find; the others are for the parent alone to say.
    private static let codes: Set<ErrorCode> = [
        .mediaEmpty, .mediaUnrecognized, .mediaUnsupported, .mediaCorrupt, .mediaEncrypted, .mediaTooManyPixels,
        .mediaTooManyFrames, .mediaTooLong, .limitExceeded, .optionsInvalidClippingRect, .optionsInvalidTime,
        .optionsInvalidSize, .deadlineExceeded, .outputNotWritable, .outputNoSpace, .internal,
    ]

    private func checked(_ error: AttachPrepError) throws -> AttachPrepError {
        guard Self.codes.contains(error.code) else {
            throw ChildFault.nonsense("the error \(error.code.rawValue), which is not a child's to say")
        }
        return AttachPrepError(
            error.code, error.message.boundedSentence,
            detail: error.detail?.bounded(characters: Limits.childDetailCharactersMax),
            isRetryable: error.isRetryable)
    }

    // MARK: Inspection

    private func checked(_ media: InspectedMedia) throws -> InspectedMedia {
        try Self.expect(.side, media.width, media.height)
        try Self.expect(.count, media.frames, media.loopCount)
        try Self.expect(.count, media.frameDelaysMilliseconds ?? [])
        try Self.expect(.duration, media.duration, media.damage?.declaredDuration)
        try Self.expect(.share, media.damage?.intactShare)
        try Self.expect(.list, media.audio.count)
        if let video = media.video {
            try Self.expect(.side, video.storedWidth, video.storedHeight)
            try Self.expect(.count, video.bitDepth)
            try Self.expect(.ratio, video.sampleAspectRatio, video.frameRate)
            try Self.expect(.moment, video.firstFrameTime, video.lastFrameTime)
        }
        for sound in media.audio { try Self.expect(.count, sound.channels, sound.sampleRate, sound.bitRate) }
        return media.bounded
    }

    /// A thumbnail that came along is the one that was expected, whichever time it shows.
    private func checked(_ early: EarlyRender, of request: InspectRequest) throws -> EarlyRender {
        guard let expected = request.expected, early.request.outputs == [.thumbnail],
            early.request.thumbnail == expected.box
        else { throw ChildFault.nonsense("a thumbnail that nobody expected") }
        return EarlyRender(request: early.request, media: try checked(early.media, of: early.request))
    }

    // MARK: Renders

    private func checked(_ media: RenderedMedia, of request: RenderRequest) throws -> RenderedMedia {
        if let attachment = media.attachment {
            try Self.expect(.side, attachment.width, attachment.height)
            try Self.expect(.count, attachment.frames)
            try Self.expect(.duration, attachment.duration)
            try expectFile(of: attachment.bytes, as: .attachment, of: request)
        }
        for (picture, output) in [(media.thumbnail, RenderOutput.thumbnail), (media.crop, .crop)] {
            guard let picture else { continue }
            try Self.expect(.side, picture.width, picture.height)
            try expectFile(of: picture.bytes, as: output, of: request)
        }
        for position in [media.sourcePosition, media.attachmentPosition] {
            switch position {
            // Bounded: a pattern, no span.
            case .seconds(let seconds): try Self.expect(.moment, seconds)
            case .frame(let number): try Self.expect(.count, number)
            case nil: break
            }
        }
        try Self.expect(.list, media.concessions.count, media.warnings.count)
        return media.bounded
    }

    /// What it says to have written was asked for, and is there.
    private func expectFile(of bytes: Int, as output: RenderOutput, of request: RenderRequest) throws {
        // The source stands in front of them.
        let outputs = job.descriptors.dropFirst()
        guard let place = request.outputs.firstIndex(of: output), let file = outputs.dropFirst(place).first else {
            throw ChildFault.nonsense("wrote \(output), which nobody asked for")
        }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_size == bytes, bytes > 0 else {
            throw ChildFault.nonsense("wrote \(bytes) bytes of \(output), where \(status.st_size) are")
        }
    }

    // MARK: Description

    private func checked(_ description: EngineDescription) throws -> EngineDescription {
        try Self.expect(.list, description.libraries.count, description.abilities.count)
        return EngineDescription(
            libraries: description.libraries.map {
                .init(name: $0.name.boundedSentence, version: $0.version.boundedSentence)
            },
            abilities: description.abilities.map {
                .init(
                    name: $0.name.boundedSentence, isAvailable: $0.isAvailable, package: $0.package.boundedSentence)
            })
    }

    // MARK: Numbers

    private static func expect(_ quantity: MediaQuantity, _ values: Int?...) throws {
        try expect(quantity, values.compactMap(\.self))
    }

    private static func expect(_ quantity: MediaQuantity, _ values: [Int]) throws {
        for value in values where !quantity.range.contains(Double(value)) {
            throw ChildFault.nonsense("\(value) as \(quantity)")
        }
    }

    private static func expect(_ quantity: MediaQuantity, _ values: Double?...) throws {
        // What is not a number is in no range.
        for value in values.compactMap(\.self) where !quantity.range.contains(value) {
            throw ChildFault.nonsense("\(value) as \(quantity)")
        }
    }
}
