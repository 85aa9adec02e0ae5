import Foundation

/// A manifest as the command prints it, decoded with its own keys instead of the product's types, so that a renamed key
/// fails the tests.
struct PrintedManifest: Decodable, Sendable, Equatable {
    struct Source: Decodable, Sendable, Equatable {
        let url: String
        let finalURL, declaredMIMEType, mimeType: String?
        let bytes: Int?
        let sha256: String?
    }

    struct File: Decodable, Sendable, Equatable {
        let file: String
        let url: String?
        let kind, uti, mimeType: String
        let bytes: Int
        let sha256: String
        let width, height, frames: Int?
        let duration: Double?
    }

    struct Image: Decodable, Sendable, Equatable {
        let file: String
        let url: String?
        let mimeType: String
        let bytes: Int
        let sha256: String
        let width, height: Int
        let time: Double?
    }

    struct Rendition: Decodable, Sendable, Equatable {
        let file: String
        let url: String?
        let type: String
        let bytes: Int
        let sha256: String
        let width, height: Int
    }

    struct Rect: Decodable, Sendable, Equatable {
        let X, Y, Width, Height: Double
    }

    struct MediaTime: Decodable, Sendable, Equatable {
        let value, timescale, epoch, flags: Int
    }

    struct Options: Decodable, Sendable, Equatable {
        let typeHint: String
        let thumbnailHidden: Bool?
        let thumbnailClippingRect: Rect?
        /// `thumbnailTime` of a movie.
        let movieTime: MediaTime?
        /// `thumbnailTime` of an animation.
        let frame: Int?

        private enum CodingKeys: String, CodingKey {
            case typeHint, thumbnailHidden, thumbnailClippingRect, thumbnailTime
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            typeHint = try values.decode(String.self, forKey: .typeHint)
            thumbnailHidden = try values.decode(Bool?.self, forKey: .thumbnailHidden)
            thumbnailClippingRect = try values.decode(Rect?.self, forKey: .thumbnailClippingRect)
            frame = try? values.decode(Int.self, forKey: .thumbnailTime)
            movieTime = frame == nil ? try values.decode(MediaTime?.self, forKey: .thumbnailTime) : nil
        }
    }

    struct Warning: Decodable, Sendable, Equatable {
        let code, message: String
    }

    struct PrintedError: Decodable, Sendable, Equatable {
        let code, message: String
        let retryable: Bool
        let appleCode: Int?
    }

    let schema: Int
    let id, requestDigest, outcome: String
    let reasons: [String]
    let source: Source
    let attachment: File?
    let thumbnail, crop: Image?
    let renditions: [String: Rendition]?
    let options: Options?
    let deviceFetch: [String: Double]?
    let timings: [String: Double]
    let warnings: [Warning]
    let error: PrintedError?

    init(line: String) throws {
        self = try JSONDecoder().decode(PrintedManifest.self, from: Data(line.utf8))
    }

    /// The codes of the warnings.
    var warningCodes: [String] { warnings.map(\.code) }
}
