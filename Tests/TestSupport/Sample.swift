import Foundation

/// A row of `samples/samples.json`: a file of `samples/media`, and what becomes of it.
public struct Sample: Decodable, Sendable {
    public let file: String
    /// The name of its `MediaFormat`; nil for a file that is none.
    public let format: String?
    public let outcome: String
    /// What is delivered, in words.
    public let attachment: String?
    /// What the thumbnail shows, in words.
    public let thumbnail: String?
    /// Width and height of an image of the motif; nil for 800 x 600.
    public let size: [Int]?

    public static let all: [Sample] = {
        do {
            let json = try Data(contentsOf: URL(filePath: SourceTree.path("samples/samples.json")))
            return try JSONDecoder().decode([Sample].self, from: json)
        } catch {
            preconditionFailure("samples/samples.json cannot be read: \(error)")
        }
    }()

    /// Images of the whole motif that are delivered as a JPEG.
    public static let convertedStills = all.filter {
        $0.attachment == "JPEG" && $0.thumbnail == "the grid" && $0.file.hasPrefix("grid.")
    }

    /// Width and height of an image of the motif.
    public static func size(of file: String) -> [Int] { all.first { $0.file == file }?.size ?? [800, 600] }
}
