import AttachPrepModel
import Glibc
import MediaEngine
import MediaTypes

/// Validates what a media process sends. A compromised process can send anything, and its numbers reach arithmetic and
/// its texts reach the manifest.
struct AnswerValidation {
    let pendingCall: PendingMediaCall

    /// Returns the content with texts bounded in length and free of control characters.
    ///
    /// - Throws: `MediaProcessError.invalidAnswer`, with what is invalid.
    func validated(_ content: MediaAnswerMessage.Content) throws -> MediaAnswerMessage.Content {
        switch (content, pendingCall.call) {
        case (.ready, _): return .ready
        case (.progress(let media), .render(let request)): return .progress(try validated(media, of: request))
        case (.work(let report), _):
            try validate(report)
            return content
        case (.failure(let error), _): return .failure(try validated(error))
        case (.answer(.identified(let media)), .identify):
            return .answer(.identified(media.bounded))
        case (.answer(.inspected(let media, let early)), .inspect(let request)):
            return .answer(.inspected(try validated(media), try early.map { try validated($0, of: request) }))
        case (.answer(.rendered(let media)), .render(let request)):
            return .answer(.rendered(try validated(media, of: request)))
        case (.answer(.described(let description)), .describe):
            return .answer(.described(try validated(description)))
        case (.progress, _), (.answer, _): throw MediaProcessError.invalidAnswer("the answer does not match the call")
        }
    }

    private func validate(_ report: WorkReport) throws {
        guard case .declared(let pixels, let frames) = report else { return }
        try Self.expect(.count, values: pixels, frames)
    }

    // MARK: Errors

    /// The error codes that media work can end with; all others come from the parent only.
    private static let codes: Set<ErrorCode> = [
        .mediaEmpty, .mediaUnrecognized, .mediaUnsupported, .mediaCorrupt, .mediaEncrypted, .mediaTooManyPixels,
        .mediaTooManyFrames, .mediaTooLong, .limitExceeded, .optionsInvalidClippingRect, .optionsInvalidTime,
        .optionsInvalidSize, .deadlineExceeded, .outputNotWritable, .outputNoSpace, .internal,
    ]

    private func validated(_ error: AttachPrepError) throws -> AttachPrepError {
        guard Self.codes.contains(error.code) else {
            throw MediaProcessError.invalidAnswer("the error code \(error.code.rawValue) is not a media process's")
        }
        return AttachPrepError(
            error.code, error.message.boundedSentence,
            detail: error.detail?.bounded(characters: Limits.mediaProcessDetailCharactersMax),
            isRetryable: error.isRetryable)
    }

    // MARK: Inspection

    private func validated(_ media: InspectedMedia) throws -> InspectedMedia {
        try Self.expect(.side, values: media.width, media.height)
        try Self.expect(.count, values: media.frames, media.loopCount)
        try Self.expect(.count, values: media.frameDelaysMilliseconds ?? [])
        try Self.expect(.duration, values: media.duration, media.damage?.declaredDuration)
        try Self.expect(.share, values: media.damage?.intactShare)
        try Self.expect(.list, values: media.audio.count)
        if let video = media.video {
            try Self.expect(.side, values: video.storedWidth, video.storedHeight)
            try Self.expect(.count, values: video.bitDepth)
            try Self.expect(.ratio, values: video.sampleAspectRatio, video.frameRate)
            try Self.expect(.moment, values: video.firstFrameTime, video.lastFrameTime)
        }
        for stream in media.audio {
            try Self.expect(.count, values: stream.channels, stream.sampleRate, stream.bitRate)
        }
        return media.bounded
    }

    /// An early thumbnail must have the expected box; its time is not compared.
    private func validated(_ early: EarlyRender, of request: InspectRequest) throws -> EarlyRender {
        guard let expected = request.expected, early.request.outputs == expected.outputs,
            early.request.thumbnail == expected.box, early.request.targets == expected.targets
        else { throw MediaProcessError.invalidAnswer("an unexpected thumbnail") }
        return EarlyRender(request: early.request, media: try validated(early.media, of: early.request))
    }

    // MARK: Renders

    private func validated(_ media: RenderedMedia, of request: RenderRequest) throws -> RenderedMedia {
        if let attachment = media.attachment {
            try Self.expect(.side, values: attachment.width, attachment.height)
            try Self.expect(.count, values: attachment.frames)
            try Self.expect(.duration, values: attachment.duration)
            try expectFile(of: attachment.bytes, as: .attachment, of: request)
        }
        let keys = Set(request.targets.map(\.key))
        guard keys.isSuperset(of: media.targets.keys), keys.isSuperset(of: media.missingTargets.keys) else {
            throw MediaProcessError.invalidAnswer("a target that was not requested")
        }
        let targets = request.targets.map { (media.targets[$0.key], RenderOutput.target($0.key)) }
        // Bounded: lists are joined.
        for (image, output) in [(media.thumbnail, RenderOutput.thumbnail), (media.crop, .crop)] + targets {
            guard let image else { continue }
            try Self.expect(.side, values: image.width, image.height)
            try expectFile(of: image.bytes, as: output, of: request)
        }
        for position in [media.sourcePosition, media.attachmentPosition] {
            switch position {
            case .seconds(let seconds): try Self.expect(.moment, values: seconds)
            case .frame(let number): try Self.expect(.count, values: number)
            case nil: break
            }
        }
        try Self.expect(.list, values: media.reductions.count, media.warnings.count)
        return media.bounded
    }

    /// The output must have been requested, and its file must have the reported size.
    private func expectFile(of bytes: Int, as output: RenderOutput, of request: RenderRequest) throws {
        // The first descriptor is the source.
        let outputs = pendingCall.descriptors.dropFirst()
        guard let index = request.outputs.firstIndex(of: output), let file = outputs.dropFirst(index).first else {
            throw MediaProcessError.invalidAnswer("wrote \(output), which was not requested")
        }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_size == bytes, bytes > 0 else {
            throw MediaProcessError.invalidAnswer("reported \(bytes) bytes of \(output), wrote \(status.st_size)")
        }
    }

    // MARK: Description

    private func validated(_ description: EngineDescription) throws -> EngineDescription {
        try Self.expect(.list, values: description.libraries.count, description.abilities.count)
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

    private static func expect(_ quantity: MediaQuantity, values: Int?...) throws {
        try expect(quantity, values: values.compactMap(\.self))
    }

    private static func expect(_ quantity: MediaQuantity, values: [Int]) throws {
        for value in values where !quantity.range.contains(Double(value)) {
            throw MediaProcessError.invalidAnswer("\(value) is out of range for \(quantity)")
        }
    }

    private static func expect(_ quantity: MediaQuantity, values: Double?...) throws {
        // NaN is in no range.
        for value in values.compactMap(\.self) where !quantity.range.contains(value) {
            throw MediaProcessError.invalidAnswer("\(value) is out of range for \(quantity)")
        }
    }
}

/// The quantities in an answer, each with its valid range. The media process clamps to the same ranges
/// (`InspectedMedia.clamped`), so a value outside of them comes from a compromised process.
enum MediaQuantity {
    /// Pixels of a side; the product of two sides and a frame count fits a 64-bit integer.
    case side
    /// A count of frames or channels, samples or bits per second, or milliseconds.
    case count
    /// A duration in seconds.
    case duration
    /// A time in seconds, negative before a movie's start; in 1/600 s it fits a 64-bit integer.
    case moment
    /// A fraction of a whole, 0 to 1.
    case share
    /// An aspect ratio, or frames per second.
    case ratio
    /// The number of entries of a list.
    case list

    var range: ClosedRange<Double> {
        switch self {
        case .side: 1...10_000_000
        case .count: 0...2_147_483_647
        case .duration: 0...InspectedMedia.secondsMax
        case .moment: -InspectedMedia.secondsMax...InspectedMedia.secondsMax
        case .share: 0...1
        case .ratio: 0...1e9
        case .list: 0...Double(Limits.mediaProcessListCountMax)
        }
    }
}

extension Limits {
    /// Characters of a library's error text for the log.
    static let mediaProcessDetailCharactersMax = 2_000
    /// Lines, streams and list entries in an answer; libav accepts a thousand streams.
    static let mediaProcessListCountMax = 1_000
}
