import LibAV
import RichPush
import SafeArithmetic

/// Stands decoded frames upright, on square pixels, in 8-bit 4:2:0 of one size, HDR brought down to SDR.
final class FrameShaper {
    let shape: MovieShape
    let colours: VideoColours
    private let scaler: VideoFrameScaler
    private let turn: FrameTurn
    private let tones: ToneTable?

    /// - Parameters:
    ///   - frame: One of the movie's; the others are like it.
    ///   - orientation: How stored pictures must be turned.
    ///   - transfer: The stream's; a frame may know better.
    init(like frame: Frame, shape: MovieShape, orientation: Orientation, transfer: StreamDescription.Transfer) throws {
        self.shape = shape
        let transfer = frame.transfer == .standard ? transfer : frame.transfer
        let isHDR = transfer != .standard && frame.pixelFormat?.isRGB == false
        colours = frame.outputColours(isToneMapped: isHDR)
        turn = FrameTurn(orientation)
        scaler = VideoFrameScaler(
            width: orientation.swapsSides ? shape.height : shape.width,
            height: orientation.swapsSides ? shape.width : shape.height, colours: colours, isDeep: isHDR)
        tones = isHDR ? ToneTable(ToneMap(transfer)) : nil
    }

    func apply(_ frame: Frame) throws -> Frame {
        try readingMedia {
            let scaled = try scaler.convert(frame)
            return try turn.apply(tones?.apply(scaled) ?? scaled)
        }
    }
}

extension FrameTurn {
    /// What stands a stored picture upright.
    init(_ orientation: Orientation) {
        let (isTransposed, isMirrored, isFlipped) =
            switch orientation {
            case .upright: (false, false, false)
            case .mirrored: (false, true, false)
            case .rotated180: (false, true, true)
            case .mirroredRotated180: (false, false, true)
            case .transposed: (true, false, false)
            case .rotated90: (true, true, false)
            case .transversed: (true, true, true)
            case .rotated270: (true, false, true)
            }
        self.init(isTransposed: isTransposed, isMirrored: isMirrored, isFlipped: isFlipped)
    }
}

extension ToneTable {
    /// A tone map's table from BT.2020's luma and chroma to BT.709's, both in limited range.
    // Bounded throughout: codes of 10 bits, and places in what was made of them; the rest is floating point.
    init(_ map: ToneMap) {
        self.init { codes in
            var pixels: [UInt8] = []
            pixels.reserveCapacity(codes.count * 6)
            for (luma, blue, red) in codes {
                let y = (Double(luma) - 64) / 876
                let (cb, cr) = ((Double(blue) - 512) / 896, (Double(red) - 512) / 896)
                let components = [y + 1.4746 * cr, y - 0.164553 * cb - 0.571353 * cr, y + 1.8814 * cb]
                for component in components {
                    let code = UInt16(clamping: max(0, min(65_535, (component * 65_535).rounded())))
                    pixels.append(UInt8(truncatingIfNeeded: code))
                    pixels.append(UInt8(code >> 8))
                }
            }
            let mapped = map.sRGB(ofRGB16: pixels)
            return codes.indices.map { index in
                let red = Double(mapped[index * 3]) / 255
                let green = Double(mapped[index * 3 + 1]) / 255
                let blue = Double(mapped[index * 3 + 2]) / 255
                let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
                return (
                    16 + 219 * luma, 128 + 224 * (blue - luma) / 1.8556, 128 + 224 * (red - luma) / 1.5748
                )
            }
        }
    }
}
