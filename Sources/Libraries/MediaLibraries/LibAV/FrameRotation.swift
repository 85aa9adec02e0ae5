import CLibAV

/// Rotates and mirrors 8-bit 4:2:0 frames.
package struct FrameRotation: Sendable, Hashable {
    /// Whether rows and columns are exchanged first.
    package let isTransposed: Bool
    /// Whether the (transposed) frame is mirrored left to right.
    package let isMirrored: Bool
    /// Whether the frame is flipped top to bottom.
    package let isFlipped: Bool

    /// Side in pixels of the squares copied at once, so that source and target stay in the CPU cache.
    private static let block = 32

    package init(isTransposed: Bool, isMirrored: Bool, isFlipped: Bool) {
        self.isTransposed = isTransposed
        self.isMirrored = isMirrored
        self.isFlipped = isFlipped
    }

    package var isIdentity: Bool { !isTransposed && !isMirrored && !isFlipped }

    package func apply(_ frame: Frame) throws(LibAVError) -> Frame {
        if isIdentity { return frame }
        let width = isTransposed ? frame.height : frame.width
        let height = isTransposed ? frame.width : frame.height
        let turned = try Frame.video(width: width, height: height, format: AV_PIX_FMT_YUV420P)
        let (source, target) = unsafe (frame.raw.pointee, turned.raw.pointee)
        unsafe rotate(
            source.data.0, sourceStride: source.linesize.0, into: target.data.0, targetStride: target.linesize.0,
            width: width, height: height)
        let (halfWidth, halfHeight) = ((width + 1) / 2, (height + 1) / 2)
        unsafe rotate(
            source.data.1, sourceStride: source.linesize.1, into: target.data.1, targetStride: target.linesize.1,
            width: halfWidth,
            height: halfHeight)
        unsafe rotate(
            source.data.2, sourceStride: source.linesize.2, into: target.data.2, targetStride: target.linesize.2,
            width: halfWidth,
            height: halfHeight)
        return turned
    }

    /// - Parameters:
    ///   - width: Width of the target in pixels.
    ///   - height: Height of the target in pixels.
    private func rotate(
        _ source: UnsafeMutablePointer<UInt8>?, sourceStride: CInt, into target: UnsafeMutablePointer<UInt8>?,
        targetStride: CInt, width: Int, height: Int
    ) {
        guard let source = unsafe source, let target = unsafe target else { return }
        let (across, down) = isTransposed ? (Int(sourceStride), 1) : (1, Int(sourceStride))
        let step = isMirrored ? -across : across
        for top in stride(from: 0, to: height, by: Self.block) {
            for left in stride(from: 0, to: width, by: Self.block) {
                let right = min(width, left + Self.block)
                for y in top..<min(height, top + Self.block) {
                    var from = (isFlipped ? height - 1 - y : y) * down
                    from += (isMirrored ? width - 1 - left : left) * across
                    let row = unsafe target + y * Int(targetStride)
                    for x in left..<right {
                        unsafe row[x] = unsafe source[from]
                        from &+= step
                    }
                }
            }
        }
    }
}
