import MediaEngine
import MediaTypes
import SafeArithmetic

/// The size to which an image can be reduced while it is decoded, because nothing that is made of it needs more pixels.
/// Pure.
struct DecodedSize: Sendable, Hashable {
    /// Both sides as shares of the whole image's, at most 1.
    let scale: Double
    private let imageWidth: Int
    private let imageHeight: Int

    /// - Parameters:
    ///   - imageWidth: Pixels of the upright image.
    ///   - imageHeight: Likewise.
    init(_ request: RenderRequest, imageWidth: Int, imageHeight: Int) {
        (self.imageWidth, self.imageHeight) = (max(1, imageWidth), max(1, imageHeight))
        var scales = request.targets.map { [imageWidth, imageHeight] in
            $0.scale(imageWidth: imageWidth, imageHeight: imageHeight)
        }
        switch request.attachment {
        case _ where request.crop != nil:
            scale = 1
            return
        case nil: break
        case .still(let still) where still.longSideMax != nil:
            scales.append(Double(still.longSideMax ?? .max) / Double(max(1, imageWidth, imageHeight)))
        default:
            scale = 1
            return
        }
        if let box = request.thumbnail {
            let geometry = ThumbnailGeometry(imageWidth: imageWidth, imageHeight: imageHeight, box: box)
            let across = Double(geometry.width) / Double(max(1, imageWidth))
            scales.append(max(across, Double(geometry.height) / Double(max(1, imageHeight))))
        }
        scale = min(1, scales.max() ?? 1)
    }

    /// Pixels of the longer side; nil for the whole image.
    var longSide: Int? { scale < 1 ? max(size.width, size.height) : nil }

    /// The whole image at this scale.
    var size: (width: Int, height: Int) {
        func reduced(_ side: Int) -> Int { max(1, Int(clamping: (Double(side) * scale).rounded())) }
        return (reduced(imageWidth), reduced(imageHeight))
    }
}

extension RenderRequest {
    /// Whether more than a thumbnail is made: pictures for displays, whose fine contrast is seen.
    var hasPictures: Bool { attachment != nil || !targets.isEmpty }
}

extension TargetRendition {
    /// The share of its size to which an image can be reduced for this picture; 1 where it has no pixel to spare.
    func scale(imageWidth: Int, imageHeight: Int) -> Double {
        let (imageWidth, imageHeight) = (Double(max(1, imageWidth)), Double(max(1, imageHeight)))
        let (width, height) = (Double(width), Double(height))
        switch fit {
        case .whole: return min(1, width / imageWidth, height / imageHeight)
        // The part that is cut out fills one side of the image.
        case .smartCrop: return min(1, max(width / imageWidth, height / imageHeight))
        }
    }
}

extension ThumbnailGeometry {
    /// Of what an image is reduced to while it is decoded: its thumbnail, or all of it if there are targets as well.
    init(_ request: RenderRequest, imageWidth: Int, imageHeight: Int) {
        if !request.hasPictures, let box = request.thumbnail {
            self.init(imageWidth: imageWidth, imageHeight: imageHeight, box: box)
        } else {
            self.init(whole: DecodedSize(request, imageWidth: imageWidth, imageHeight: imageHeight).size)
        }
    }
}
