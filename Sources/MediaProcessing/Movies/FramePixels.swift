import LibAV
import RichPush
import SafeArithmetic

/// Turns a decoded frame into sRGB pixels, shrunk early where only a small picture is wanted.
// Bounded throughout: floating point.
struct FramePixels {
    private let stream: StreamDescription
    private let geometry: DisplayGeometry
    private let largestSide: Int?

    /// A picture reduced so many times hides the edges of blocks in the pictures it leans on: the thumbnail differs by
    /// 40 to 47 dB from that of the exact picture, less than by being written as a JPEG.
    private static let hidingReduction = 4.0

    /// - Parameter largestSide: Pixels; nil for full size.
    init(stream: StreamDescription, largestSide: Int?) {
        self.stream = stream
        self.largestSide = largestSide
        geometry = DisplayGeometry(stream)
    }

    /// - Parameter wantedSide: Pixels of what is made of it; twice of them are kept. Nil for full size.
    init(stream: StreamDescription, wantedSide: Int?) {
        self.init(stream: stream, largestSide: wantedSide.map { $0.multiplied(clamping: 2) })
    }

    /// Whether edges of blocks, left unsmoothed in the pictures before it, could be seen.
    var showsEdges: Bool {
        guard let largestSide else { return true }
        let longest = max(Double(stream.width) * geometry.sampleAspectRatio, Double(stream.height))
        return longest * 2 < Double(largestSide) * Self.hidingReduction
    }

    /// - Parameter time: Seconds of the movie's own timeline.
    func picture(of frame: Frame, time: Double, isExact: Bool = true) throws -> DecodedPicture {
        let (width, height) = size(of: frame)
        let transfer = frame.transfer == .standard ? stream.transfer : frame.transfer
        let isHDR = transfer != .standard && frame.pixelFormat?.isRGB == false
        let hasAlpha = !isHDR && frame.pixelFormat?.hasAlpha == true
        let layout: FrameScaler.Layout = isHDR ? .rgb16 : hasAlpha ? .rgba8 : .rgb8
        let pixels = try FrameScaler.pixels(of: frame, width: width, height: height, layout: layout)
        return DecodedPicture(
            width: width, height: height, bands: hasAlpha ? 4 : 3,
            bytes: isHDR ? ToneMap(transfer).sRGB(ofRGB16: pixels) : pixels,
            orientation: geometry.orientation, sampleAspectRatio: geometry.sampleAspectRatio, time: time,
            isExact: isExact)
    }

    private func size(of frame: Frame) -> (width: Int, height: Int) {
        let longest = max(Double(frame.width) * geometry.sampleAspectRatio, Double(frame.height))
        guard let largestSide, longest > Double(largestSide) else { return (frame.width, frame.height) }
        let scale = Double(largestSide) / longest
        func shrunk(_ side: Int) -> Int { max(1, Int(clamping: (Double(side) * scale).rounded())) }
        return (shrunk(frame.width), shrunk(frame.height))
    }
}
