import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Decodes a movie's packets to frames with presentation times.
final class TimedFrameDecoder {
    /// Consecutive errors without a frame after which a decoder is treated as stuck.
    private static let failuresMax = 64

    /// Pixels of a frame up to which two threads decode. dav1d takes 140 MB more for two threads in 4K of 10 bits
    /// (measured), and the encoder is what such a movie waits for.
    private static let twoThreadsPixelsMax = 4_000_000

    private let decoder: Decoder
    private var times: FrameTimes
    /// Packets that did not decode.
    private(set) var undecodablePackets = 0

    init(_ movie: OpenMovie, _ scan: MovieScan) throws {
        decoder = try readingMedia {
            try Decoder.open(
                stream: scan.video.index, of: movie.demuxer, threads: Self.threads(scan.video),
                pixelsMax: Limits.moviePixelsMax)
        }
        times = FrameTimes(movie, scan)
    }

    private static func threads(_ stream: StreamDescription) -> Int {
        stream.width.multiplied(clamping: stream.height) > twoThreadsPixelsMax ? 1 : 2
    }

    /// Which frames are skipped.
    var skipping = FrameSkipping.none { didSet { decoder.skipsNonReference = skipping == .nonReference } }

    /// Sends a packet, or nil to drain, and passes the decoded frames to `use` with their times in seconds.
    func feed(_ packet: Packet?, use: (Frame, Double) throws -> Void) throws {
        if let packet {
            if packet.byteCount == 0 || skipping == .keyframesOnly && !packet.isKeyframe { return }
            times.send(packet)
        }
        while try !send(packet) {
            if try !receive(use: use) { break }
        }
        while try receive(use: use) {}
    }

    /// Sends a packet; false when frames have to be received first. A packet that does not decode is skipped.
    private func send(_ packet: Packet?) throws -> Bool {
        do {
            return try decoder.send(packet)
        } catch {
            if error.isOutOfMemory { throw error.corrupt }
            undecodablePackets = undecodablePackets.adding(clamping: 1)
            return true
        }
    }

    /// Receives one frame and passes it to `use`; false when there is none.
    private func receive(use: (Frame, Double) throws -> Void) throws -> Bool {
        var failures = 0
        while true {
            let frame = try Frame()
            do {
                if try decoder.receive(into: frame) != .frame { return false }
            } catch {
                failures += 1
                undecodablePackets = undecodablePackets.adding(clamping: 1)
                if error.isOutOfMemory { throw error.corrupt }
                if failures == Self.failuresMax { return false }
                continue
            }
            if let time = times.time(of: frame) { try use(frame, time) }
            return true
        }
    }
}

/// Converts decoded frames to upright 8-bit 4:2:0 of one size with square pixels; HDR is tone-mapped to SDR.
final class FrameNormalizer {
    let shape: MovieShape
    let colors: VideoColors
    private let scaler: VideoFrameScaler
    private let rotation: FrameRotation
    private let tones: ToneTable?

    /// - Parameters:
    ///   - frame: A sample frame; the others have the same format.
    ///   - orientation: Orientation of the stored frames.
    ///   - transfer: The stream's transfer function; a frame's own takes precedence.
    init(
        like frame: Frame, shape: MovieShape, orientation: Orientation, transfer: StreamDescription.TransferFunction
    ) throws {
        self.shape = shape
        let transfer = frame.transfer == .standard ? transfer : frame.transfer
        let isHDR = transfer != .standard && frame.pixelFormat?.isRGB == false
        colors = frame.outputColors(isToneMapped: isHDR)
        rotation = FrameRotation(orientation)
        scaler = VideoFrameScaler(
            width: orientation.swapsSides ? shape.height : shape.width,
            height: orientation.swapsSides ? shape.width : shape.height, colors: colors, isDeep: isHDR)
        tones = isHDR ? ToneTable(ToneMap(transfer)) : nil
    }

    func apply(_ frame: Frame) throws -> Frame {
        try readingMedia {
            let scaled = try scaler.convert(frame)
            return try rotation.apply(tones?.apply(scaled) ?? scaled)
        }
    }
}

extension FrameRotation {
    /// The rotation that displays a stored frame upright.
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
    /// The table of a tone map from BT.2020 luma and chroma to BT.709, both in limited range.
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

/// Drops frames to keep an average rate, with spacing as even as in the source.
struct FrameRateLimiter {
    /// Part of an interval by which a frame may be early: camera clocks jitter.
    private static let earlyShare = 0.3
    /// Part of an interval that is not made up for when a frame is late.
    private static let patience = 0.5

    private let interval: Double
    private var next = -Double.infinity

    /// - Parameter frameRateMax: Maximum frames per second; nil keeps all.
    init(frameRateMax: Double?) {
        interval = frameRateMax.map { 1 / $0 } ?? 0
    }

    /// Whether the frame at a time is kept; times must increase.
    mutating func keeps(_ time: Double) -> Bool {
        if interval == 0 { return true }
        if time < next - interval * Self.earlyShare { return false }
        next = next.isFinite ? max(next, time - interval * Self.patience) + interval : time + interval
        return true
    }
}
