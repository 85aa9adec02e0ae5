import Glibc
import MediaEngine
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last step: final names, the manifest beside them, and the folder in its place, all at once.
struct PublishStep: Sendable {
    let plan: PreparationPlan
    let media: InspectedMedia
    let source: FetchedSource
    let renditions: Renditions
    let request: AttachmentRequest
    let baseURL: String?
    let staging: StagingFolder

    /// Names the files and writes them into the manifest.
    func complete(_ manifest: Manifest) throws -> Manifest {
        var manifest = manifest
        manifest.outcome = plan.outcome
        manifest.reasons = plan.reasons + renditions.concessions
        manifest.warnings = plan.warnings
        let attachment = try attachment(id: manifest.id)
        manifest.attachment = attachment
        manifest.thumbnail = try picture(renditions.thumbnail, .thumbnail, id: manifest.id)
        manifest.crop = try picture(renditions.crop, .crop, id: manifest.id)
        manifest.options = AttachmentOptions(
            typeHint: attachment.uti, thumbnailHidden: request.options.thumbnailHidden,
            thumbnailClippingRect: plan.clippingRect, thumbnailTime: emittedTime)
        manifest.deviceFetch = NetworkProfile.deviceFetch(bytes: attachment.bytes)
        return manifest
    }

    /// Writes the manifest and puts the folder in its place.
    func publish(_ manifest: Manifest) throws {
        let working = RenderOutput.allCases.map(RenderStep.workingName) + [FetchedSource.fileName]
        for name in working { try staging.remove(name) }
        let descriptor = try staging.create(Manifest.fileName)
        defer { close(descriptor) }
        try Self.write([UInt8](manifest.json()) + [UInt8(ascii: "\n")], to: descriptor)
        try staging.publish(as: manifest.id)
    }

    private func attachment(id: String) throws -> ManifestFile {
        var file: ManifestFile
        if let type = plan.passedType {
            file = ManifestFile(
                file: "attachment.\(type.fileExtension)", type: type, bytes: source.bytes, sha256: source.sha256)
            (file.width, file.height) = (media.width, media.height)
            file.frames = type.kind == .image ? media.frames ?? 1 : nil
            file.duration = media.duration
            try staging.rename(FetchedSource.fileName, to: file.file)
        } else if let written = renditions.attachment {
            let picture = written.rendered
            file = ManifestFile(
                file: "attachment.\(picture.type.fileExtension)", type: picture.type, bytes: picture.bytes,
                sha256: written.sha256)
            (file.width, file.height, file.frames) = (picture.width, picture.height, picture.frames)
            file.duration = picture.duration
            try staging.rename(RenderStep.workingName(.attachment), to: file.file)
        } else {
            throw AttachPrepError(.internal, "The attachment was not written.")
        }
        file.url = url(of: file.file, id: id)
        return file
    }

    private func picture(_ file: Renditions.File<RenderedPicture>?, _ output: RenderOutput, id: String) throws
        -> ManifestPicture?
    {
        guard let file else { return nil }
        let name = "\(output).\(file.rendered.type.fileExtension)"
        try staging.rename(RenderStep.workingName(output), to: name)
        var picture = ManifestPicture(
            file: name, mimeType: file.rendered.type.mimeType, bytes: file.rendered.bytes, sha256: file.sha256,
            width: file.rendered.width, height: file.rendered.height, isTimed: output == .thumbnail,
            time: output == .thumbnail ? shownTime : nil)
        picture.url = url(of: name, id: id)
        return picture
    }

    /// A time past the end is emitted as the time of the frame that was shown instead.
    private var emittedTime: ThumbnailTime? {
        guard plan.warnings.contains(where: { $0.code == .timePastEnd }),
            case .seconds(let shown) = renditions.sourcePosition
        else { return plan.thumbnailTime }
        return .movie(MovieTime(seconds: shown))
    }

    /// Seconds of a movie, frame number of an animation.
    private var shownTime: Double? {
        switch renditions.sourcePosition {
        case .seconds(let seconds): seconds
        case .frame(let number): Double(number)
        case nil: nil
        }
    }

    private func url(of file: String, id: String) -> String? {
        baseURL.map { $0.hasSuffix("/") ? "\($0)\(id)/\(file)" : "\($0)/\(id)/\(file)" }
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) throws {
        let count = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        guard count == bytes.count else { throw OutputFailure.error(count < 0 ? errno : ENOSPC) }
    }
}
