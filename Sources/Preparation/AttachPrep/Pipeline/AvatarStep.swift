import AttachPrepModel
import MediaEngine
import MediaTypes

/// Makes the sender's picture from its own source, while the media of the request is fetched and prepared.
struct AvatarStep: Sendable {
    static let sourceName = "avatar.source"

    let request: AttachmentRequest
    /// The error of an invalid URL is a warning, as any other.
    let location: Result<SourceLocation, any Error>
    let dependencies: PipelineDependencies
    let staging: StagingFolder
    let deadline: ContinuousClock.Instant

    /// The picture alone; an error is recorded in it.
    func run() async -> Renditions {
        let target = RenderOutput.target(MediaTarget.avatar.rawValue)
        do {
            return try await withDeadline(deadline, stage: "preparing the avatar") { try await picture() }
        } catch {
            try? staging.remove(RenderStep.workingName(target))
            var failed = Renditions()
            failed.missingTargets[MediaTarget.avatar.rawValue] = .targetAvatarFailed
            failed.avatarError = AttachPrepError(wrapping: error)
            return failed
        }
    }

    private func picture() async throws -> Renditions {
        let location = try location.get()
        // The headers of a request belong to the origin of its own source.
        let request = AttachmentRequest(source: self.request.avatar ?? "")
        let source = try await FetchStep(
            request: request, location: location, dependencies: dependencies,
            file: try SourceFile(in: staging, name: Self.sourceName), deadline: deadline
        ).run()
        guard let format = source.identified.format, format.kind == .image else {
            throw AttachPrepError(.mediaUnsupported, "The avatar is not an image; give the URL of a JPEG or PNG.")
        }
        let engine = dependencies.engine(for: source, of: request)
        let rows = self.request.targets.renditions.filter { $0.key == MediaTarget.avatar.rawValue }
        return try await engine.withSlot(.render) { [dependencies, staging, deadline] engine in
            let media = try await engine.inspect(
                InspectRequest(format: format, decodesStills: false), source: source.descriptor, deadline: deadline)
            var render = RenderRequest(
                format: media.format, frameSelection: media.isAnimated ? .animationFrame(0) : .still)
            render.targets = rows
            return try await RenderStep(
                request: render, source: source.descriptor, engine: engine, blocking: dependencies.blocking,
                staging: staging, deadline: deadline
            ).run()
        }
    }
}
