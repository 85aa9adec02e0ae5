import Foundation
import Glibc
import MediaEngine
import MediaProcessing
import MediaTypes
import TestSupport

/// One render by the processor, as a media process does it, with its outputs as files.
struct RenderedStill {
    let media: RenderedMedia
    let folder: TemporaryFolder

    /// Renders `source` according to the request.
    init(_ source: String, _ request: RenderRequest) throws {
        let folder = try TemporaryFolder()
        let input = open(source, O_RDONLY)
        let outputs = request.outputs.map { open(folder.path("\($0)"), O_RDWR | O_CREAT, 0o644) }
        defer { ([input] + outputs).forEach { close($0) } }
        let answer = try MediaProcessor().perform(
            .render(request), descriptors: [input] + outputs, deadline: .now + .seconds(60))
        guard case .rendered(let media) = answer else {
            throw GeneratedMedia.FixtureError(description: "no render: \(answer)")
        }
        self.folder = folder
        self.media = media
    }

    /// Renders a thumbnail of 300 x 300, and the attachment if `reencodes` is set.
    init(
        _ source: String, format: MediaFormat, reencodes: Bool = false, crop: ClippingRect? = nil,
        frameSelection: FrameSelection = .still, fit: ThumbnailFit = .contain, side: Int = 300
    ) throws {
        var request = RenderRequest(format: format, frameSelection: frameSelection)
        request.attachment = reencodes ? .still(StillRendition(bytesMax: Limits.imageBytesMax)) : nil
        request.thumbnail = ThumbnailRendition(width: side, height: side, fit: fit)
        request.crop = crop.map { .part($0) }
        try self.init(source, request)
    }

    /// An output, decoded by FFmpeg.
    func image(_ output: RenderOutput) throws -> TestImage {
        let type: AttachmentType? =
            switch output {
            case .attachment: media.attachment?.type
            case .thumbnail: media.thumbnail?.type
            case .crop: media.crop?.type
            case .target(let key): media.targets[key]?.type
            }
        let named = folder.path("\(output).\(type?.fileExtension ?? "bin")")
        if !FileManager.default.fileExists(atPath: named) {
            try FileManager.default.copyItem(atPath: folder.path("\(output)"), toPath: named)
        }
        return try TestImage(decoding: named)
    }

    /// The bytes of an output.
    func bytes(_ output: RenderOutput) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("\(output)"))))
    }
}

/// Sample files and files made from them.
enum StillFixture {
    /// A file of samples/media.
    static func sample(_ name: String) -> String {
        SourceTree.sample(name)
    }

    /// The grid, converted by ImageMagick.
    static func converted(_ name: String, _ arguments: [String]) throws -> String {
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(name)").path
        let result = try RunCommand("convert", [sample("grid.png")] + arguments + ["+repage", target]).runBlocking()
        guard result.exitCode == 0 else {
            throw GeneratedMedia.FixtureError(description: "convert: \(result.errorText)")
        }
        return target
    }

    /// A PNG with the same pixels, hardly compressed.
    static func repacked(_ file: String) throws -> String {
        let target = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-loose.png").path
        let loosely = ["-define", "png:compression-level=1", "-define", "png:compression-filter=0"]
        try GeneratedMedia.run("convert", [file] + loosely + [target])
        return target
    }
}

/// FFmpeg's `gradients` with fixed colors: without them it draws random ones whatever its seed, and the compressed size
/// varies by a factor of two.
enum GradientSource {
    private static let colors = ["1b3a6b", "d9a441", "2f7d4f", "b8433a", "e8e2d0", "5a3d7a", "3fa7b5", "20242a"]

    /// - Parameter count: The number of colors, at most eight.
    static func arguments(_ width: Int, _ height: Int, seed: Int, colors count: Int, _ more: String = "") -> String {
        let named = colors.prefix(count).enumerated().map { "c\($0)=0x\($1)" }.joined(separator: ":")
        return "gradients=s=\(width)x\(height):seed=\(seed):n=\(count):d=1:\(named)\(more)"
    }
}
