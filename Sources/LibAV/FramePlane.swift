import CLibAV

extension Frame {
    /// How the numbers of luma and chroma are to be read, as far as the coded picture says.
    package struct Coding: Sendable, Hashable {
        /// What luma and chroma are made of, by ISO/IEC 23091-2's number; 2 for what is not said.
        package let matrix: Int
        /// Whether black is 0 and white the largest number.
        package let isFullRange: Bool
    }

    package var coding: Coding {
        Coding(
            matrix: Int(clamping: unsafe raw.pointee.colorspace.rawValue),
            isFullRange: unsafe raw.pointee.color_range == AVCOL_RANGE_JPEG)
    }

    /// Copies the upper left part of a component into rows of 8 bits a sample; deeper samples are rounded.
    ///
    /// - Parameters:
    ///   - component: 0 for luma, 1 and 2 for chroma, each in a plane of its own.
    ///   - columns: Samples of a row; the component has them.
    ///   - rows: As many as the component has, or fewer.
    ///   - target: Where the first sample goes.
    ///   - stride: From row to row of the target.
    // Bounded throughout: rows of a component that libav allocated, and of a target that has as many.
    package func copy(
        component: Int, columns: Int, rows: Int, to target: UnsafeMutablePointer<UInt8>, stride: Int
    ) {
        let depth = min(pixelFormat?.bitDepth ?? 8, 16)
        let (data, lineBytes) = unsafe plane(component)
        guard let data = unsafe data else { return }
        for row in 0..<rows {
            let source = unsafe UnsafeRawPointer(data + row * lineBytes)
            let line = unsafe target + row * stride
            if depth <= 8 {
                unsafe UnsafeMutableRawPointer(line).copyMemory(from: source, byteCount: columns)
            } else {
                unsafe Self.round(source.assumingMemoryBound(to: UInt16.self), depth: depth, count: columns, to: line)
            }
        }
    }

    private func plane(_ component: Int) -> (data: UnsafeMutablePointer<UInt8>?, lineBytes: Int) {
        switch component {
        case 0: unsafe (raw.pointee.data.0, Int(clamping: raw.pointee.linesize.0))
        case 1: unsafe (raw.pointee.data.1, Int(clamping: raw.pointee.linesize.1))
        default: unsafe (raw.pointee.data.2, Int(clamping: raw.pointee.linesize.2))
        }
    }

    // Bounded throughout: 9 to 16 bits a sample, in pairs of bytes; `count` samples on either side.
    private static func round(
        _ source: UnsafePointer<UInt16>, depth: Int, count: Int, to target: UnsafeMutablePointer<UInt8>
    ) {
        let shift = UInt16(depth - 8)
        let half = UInt16(1) << (shift - 1)
        for index in 0..<count { unsafe target[index] = UInt8(min(255, (source[index] &+ half) >> shift)) }
    }
}
