import Magic
package import MediaEngine
import RichPush
import Vips

/// The work behind `MediaEngine`, on the calling thread: one job at a time.
///
/// Not Sendable: libmagic's cookie belongs to one thread.
package final class MediaProcessor {
    private let cookie: MagicCookie

    /// Loads the libraries; what cannot be loaded is this machine's fault, not the media's.
    package init() throws {
        do {
            try VipsLibrary.start()
            cookie = try MagicCookie()
        } catch {
            throw AttachPrepError(
                .internal, "The media libraries could not be loaded; run attachprep doctor.", detail: "\(error)")
        }
    }

    /// Does one call; see `MediaEngine.perform`.
    ///
    /// - Parameter progress: Told what of a render is on disk when the rest may take long.
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
            throw AttachPrepError(.internal, "The media process was given no file.", detail: "\(call)")
        }
        switch call {
        case .identify(let request):
            return .identified(try Identification.identify(request, descriptor: source, cookie: cookie))
        case .inspect(let request):
            let (media, early) = try Inspection.inspect(
                request, source: source, others: Array(descriptors.dropFirst()), deadline: deadline)
            return .inspected(media, early)
        case .render(let request):
            return .rendered(
                try Rendering.render(
                    request, source: source, outputs: descriptors.dropFirst().map(OutputFile.init), deadline: deadline,
                    progress: progress))
        case .describe: preconditionFailure("answered above")
        }
    }

    /// Which call failed says what is wrong: a picture that does not load or decode is broken.
    private static func broken(_ error: VipsError) -> AttachPrepError {
        let isOurs =
            ["jpegsave", "pngsave", "new_from_memory", "init"].contains(error.operation)
            // No file can ask for an operation by name: our own list lacks one that we use.
            || error.description.contains("operation is blocked")
        return isOurs
            ? AttachPrepError(.internal, "The picture could not be written.", detail: error.description)
            : AttachPrepError(
                .mediaCorrupt, "The picture is truncated or broken; check the file at its source.",
                detail: error.description)
    }
}
