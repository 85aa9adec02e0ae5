import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport

/// One render through the processor, as a media child does it, with its outputs as files.
struct RenderedStill {
    let media: RenderedMedia
    let folder: TemporaryFolder

    /// Renders `source` as the request says.
    init(_ source: String, _ request: RenderRequest) throws {
        let folder = try TemporaryFolder()
        let input = open(source, O_RDONLY)
        let outputs = request.outputs.map { open(folder.path("\($0)"), O_RDWR | O_CREAT, 0o644) }
        defer { ([input] + outputs).forEach { close($0) } }
        let answer = try MediaProcessor().perform(
            .render(request), descriptors: [input] + outputs, deadline: .now + .seconds(60))
        guard case .rendered(let media) = answer else {
            throw GeneratedMedia.Failure(description: "no render: \(answer)")
        }
        self.folder = folder
        self.media = media
    }

    /// A thumbnail of 300 x 300, and the attachment written anew when that is asked.
    init(
        _ source: String, format: MediaFormat, anew: Bool = false, crop: ClippingRect? = nil,
        picture: FrameSelection = .still, fit: ThumbnailFit = .contain, side: Int = 300
    ) throws {
        var request = RenderRequest(format: format, picture: picture)
        request.attachment = anew ? .still(StillRendition(bytesMax: Limits.imageBytesMax)) : nil
        request.thumbnail = ThumbnailRendition(width: side, height: side, fit: fit)
        request.crop = crop.map { .part($0) }
        try self.init(source, request)
    }

    /// An output, decoded by a program that is not ours.
    func picture(_ output: RenderOutput) throws -> TestPicture {
        let type: AttachmentType? =
            switch output {
            case .attachment: media.attachment?.type
            case .thumbnail: media.thumbnail?.type
            case .crop: media.crop?.type
            }
        let named = folder.path("\(output).\(type?.fileExtension ?? "bin")")
        if !FileManager.default.fileExists(atPath: named) {
            try FileManager.default.copyItem(atPath: folder.path("\(output)"), toPath: named)
        }
        return try TestPicture(decoding: named)
    }

    /// The bytes of an output.
    func bytes(_ output: RenderOutput) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("\(output)"))))
    }
}

/// Files of the samples and files made from them.
enum StillFixture {
    /// A file of samples/media.
    static func sample(_ name: String) -> String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("samples/media/\(name)").path
    }

    /// The grid, put through ImageMagick's `convert`.
    static func converted(_ name: String, _ arguments: [String]) throws -> String {
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(name)").path
        let result = try RunCommand("convert", [sample("grid.png")] + arguments + ["+repage", target]).runBlocking()
        guard result.exitCode == 0 else { throw GeneratedMedia.Failure(description: "convert: \(result.errorText)") }
        return target
    }

    /// A PNG of the same pixels that is hardly packed at all.
    static func repacked(_ file: String) throws -> String {
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-loose.png").path
        let loosely = ["-define", "png:compression-level=1", "-define", "png:compression-filter=0"]
        try GeneratedMedia.run("convert", [file] + loosely + [target])
        return target
    }
}
