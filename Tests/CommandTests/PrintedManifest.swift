import Foundation

/// A manifest as the contract spells it, read from what the command printed: not with the product's own types, so that
/// a renamed key is seen.
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

    struct Picture: Decodable, Sendable, Equatable {
        let file: String
        let url: String?
        let mimeType: String
        let bytes: Int
        let sha256: String
        let width, height: Int
        let time: Double?
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
        /// Of a movie.
        let movieTime: MediaTime?
        /// Of an animation.
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

    struct Failure: Decodable, Sendable, Equatable {
        let code, message: String
        let retryable: Bool
        let appleCode: Int?
    }

    let schema: Int
    let id, requestDigest, outcome: String
    let reasons: [String]
    let source: Source
    let attachment: File?
    let thumbnail, crop: Picture?
    let options: Options?
    let deviceFetch: [String: Double]?
    let timings: [String: Double]
    let warnings: [Warning]
    let error: Failure?

    init(line: String) throws {
        self = try JSONDecoder().decode(PrintedManifest.self, from: Data(line.utf8))
    }

    /// The warnings' codes.
    var warningCodes: [String] { warnings.map(\.code) }
}
