import AttachPrepModel
package import MediaEngine
import MediaLibraries
import MediaTypes

/// Implements `MediaEngine` on the calling thread, one call at a time.
///
/// Not Sendable: libmagic's cookie belongs to one thread.
package final class MediaProcessor {
    private let cookie: MagicCookie
    private let drawsSVG: Bool

    /// Loads the libraries.
    ///
    /// - Parameter drawsSVG: False where nothing ends a drawing that takes all memory or time.
    /// - Throws: `internal` if a library cannot be loaded, which is an installation error, not the file's.
    package init(drawsSVG: Bool = true) throws {
        self.drawsSVG = drawsSVG
        do {
            try VipsLibrary.start()
            cookie = try MagicCookie()
        } catch {
            throw AttachPrepError(
                .internal, "The media libraries could not be loaded; run attachprep doctor.", detail: "\(error)")
        }
    }

    /// Runs one call; see `MediaEngine.perform`.
    ///
    /// - Parameter progress: Called with the renditions written so far when the remaining ones may take long.
    package func perform(
        _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant,
        progress: @escaping (RenderedMedia) -> Void = { _ in }
    ) throws -> MediaAnswer {
        do {
            return try answer(call, descriptors: descriptors, deadline: deadline, progress: progress)
        } catch let error as VipsError {
            throw Self.broken(error)
        } catch let error as MagicError {
            throw AttachPrepError(.internal, "The content could not be identified.", detail: "\(error)")
        }
    }

    private func answer(
        _ call: MediaCall, descriptors: [CInt], deadline: ContinuousClock.Instant,
        progress: @escaping (RenderedMedia) -> Void
    ) throws -> MediaAnswer {
        if case .describe = call { return .described(EngineDescriber.describe()) }
        guard let source = descriptors.first else {
            throw AttachPrepError(.internal, "The media process received no file.", detail: "\(call)")
        }
        if !drawsSVG, call.isDrawing {
            throw AttachPrepError(
                .mediaUnsupported, "An SVG is drawn only in a media process, which can be ended; send a PNG.")
        }
        switch call {
        case .identify(let request):
            return .identified(try Identification.identify(request, descriptor: source, cookie: cookie))
        case .inspect(let request):
            let (media, early) = try MediaInspection.inspect(
                request, source: source, others: Array(descriptors.dropFirst()), deadline: deadline)
            return .inspected(media, early)
        case .render(let request):
            return .rendered(
                try MediaRendering.render(
                    request, source: source, outputs: descriptors.dropFirst().map(OutputFile.init), deadline: deadline,
                    progress: progress))
        case .describe: preconditionFailure("answered above")
        }
    }

    /// Classifies a libvips error by the failed operation: a failed load or decode means that the image is damaged.
    private static func broken(_ error: VipsError) -> AttachPrepError {
        let isInternalError =
            ["jpegsave", "pngsave", "new_from_memory", "init"].contains(error.operation)
            // A file cannot trigger a blocked operation: the name is missing from this program's allow list.
            || error.description.contains("operation is blocked")
        return isInternalError
            ? AttachPrepError(.internal, "The image could not be written.", detail: error.description)
            : AttachPrepError(
                .mediaCorrupt, "The image is truncated or broken; check the file at its source.",
                detail: error.description)
    }
}

/// Runs a render request with the renderer for its kind.
enum MediaRendering {
    static func render(
        _ request: RenderRequest, source: CInt, outputs: [OutputFile], deadline: ContinuousClock.Instant,
        progress: @escaping (RenderedMedia) -> Void
    ) throws -> RenderedMedia {
        var outputs = outputs
        let download = request.isDownloading ? outputs.popLast().map { DownloadingFile(signals: $0.descriptor) } : nil
        guard outputs.count == request.outputs.count else {
            throw AttachPrepError(.internal, "The media process received the wrong number of outputs.")
        }
        let clock = WorkClock(deadline: deadline)
        if let download {
            let named = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try ImageRenderer(request: request, source: source, outputs: named, clock: clock)
                .renderDownloading(download)
        }
        switch request.attachment {
        case .still, nil:
            let named = Dictionary(uniqueKeysWithValues: zip(request.outputs, outputs))
            return try ImageRenderer(
                request: request, source: source, outputs: named, clock: clock, progress: progress
            ).render()
        case .animation, .movie, .audio:
            precondition(request.outputs == [.attachment], "a slow attachment is rendered without other outputs")
            return try AttachmentConversion(request: request, source: source, output: outputs[0], clock: clock).run()
        }
    }
}

extension AttachmentConversion {
    /// Converts with the converter for the attachment's kind.
    func run() throws -> RenderedMedia {
        switch request.attachment {
        case .animation(let rendition): try AnimationConversion(self, rendition).run()
        case .movie(let rendition) where request.format.kind == .image:
            try AnimationMovieConversion(self, rendition).run()
        case .movie(let rendition): try MovieConversion(self, rendition).run()
        case .audio(let rendition): try AudioConversion(self, rendition).run()
        case .still, nil: preconditionFailure("a still is rendered with its thumbnail")
        }
    }
}

/// Lists library versions and available codecs, for `attachprep doctor`.
enum EngineDescriber {
    static func describe() -> EngineDescription {
        let libav = LibAV.versions.map { EngineDescription.Library(name: $0.name, version: $0.version) }
        let others = [
            EngineDescription.Library(name: "libvips", version: VipsLibrary.version),
            EngineDescription.Library(name: "libmagic", version: MagicCookie.version),
        ]
        return EngineDescription(libraries: others + libav, abilities: images + media)
    }

    private static var images: [EngineDescription.Ability] {
        let operations = [
            ("read JPEG", "jpegload_source"), ("read PNG", "pngload_source"), ("read GIF", "gifload_source"),
            ("read WebP", "webpload_source"), ("read HEIC and AVIF", "heifload_source"),
            ("read TIFF", "tiffload_source"), ("read JPEG 2000", "jp2kload_source"), ("read JPEG XL", "jxlload_source"),
            ("read SVG", "svgload_source"),
            ("write JPEG", "jpegsave_buffer"), ("write PNG", "pngsave_buffer"),
            ("color management", "icc_transform"),
        ]
        return operations.map { name, operation in
            EngineDescription.Ability(
                name: name, isAvailable: VipsLibrary.hasOperation(operation), package: "libvips42")
        }
    }

    private static var media: [EngineDescription.Ability] {
        let decoders = [
            ("read BMP", "bmp"), ("read H.264", "h264"), ("read HEVC", "hevc"), ("read MPEG-4", "mpeg4"),
            ("read MPEG-1", "mpeg1video"), ("read MPEG-2", "mpeg2video"), ("read Motion JPEG", "mjpeg"),
            ("read AV1", "libdav1d"), ("read VP9", "vp9"), ("read AAC", "aac"), ("read ALAC", "alac"),
            ("read MP3", "mp3float"), ("read AC-3", "ac3"), ("read Opus", "opus"), ("read Vorbis", "vorbis"),
            ("read FLAC", "flac"), ("read AMR", "amrnb"), ("read Windows Media Audio", "wmav2"),
            ("read Windows Media Video", "wmv2"),
        ]
        let encoders = [("write H.264", "libx264"), ("write AAC", "aac"), ("write MP3", "libmp3lame")]
        return decoders.map { name, decoder in
            EngineDescription.Ability(
                name: name, isAvailable: LibAV.canDecode(decoder), package: "libavcodec59")
        }
            + encoders.map { name, encoder in
                EngineDescription.Ability(
                    name: name, isAvailable: LibAV.canEncode(encoder), package: "libavcodec59")
            }
    }
}
