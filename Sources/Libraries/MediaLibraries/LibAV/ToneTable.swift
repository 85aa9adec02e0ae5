import CLibAV
import SafeArithmetic

/// A lookup table from 10-bit to 8-bit luma and chroma that is applied to whole frames: it computes any color mapping
/// with a few table reads per pixel.
package struct ToneTable: Sendable {
    /// Table entries per chroma and per luma axis; values in between are interpolated.
    package static let chromaNodes = 33
    package static let lumaNodes = 257

    /// Entries in 1/256 of an 8-bit value; luma is the fastest index, then the second chroma component, then the first.
    private let luma: [UInt16]
    private let first: [UInt16]
    private let second: [UInt16]

    /// - Parameter map: Maps 10-bit luma and chroma to luma and chroma from 0 to 255.
    package init(_ map: (_ codes: [(Int, Int, Int)]) -> [(Double, Double, Double)]) {
        var codes: [(Int, Int, Int)] = []
        codes.reserveCapacity(Self.chromaNodes * Self.chromaNodes * Self.lumaNodes)
        for blue in 0..<Self.chromaNodes {
            for red in 0..<Self.chromaNodes {
                for y in 0..<Self.lumaNodes { codes.append((min(1023, y * 4), blue * 32, red * 32)) }
            }
        }
        let mapped = map(codes)
        func fixed(_ value: Double) -> UInt16 { UInt16(clamping: max(0, min(65_280, (value * 256).rounded()))) }
        luma = mapped.map { fixed($0.0) }
        first = mapped.map { fixed($0.1) }
        second = mapped.map { fixed($0.2) }
    }

    /// Converts a 10-bit 4:2:0 frame to 8 bits.
    package func apply(_ frame: Frame) throws(LibAVError) -> Frame {
        let target = try Frame.video(width: frame.width, height: frame.height, format: AV_PIX_FMT_YUV420P)
        let planes = unsafe Planes(frame, target)
        guard let planes = unsafe planes else { return target }
        unsafe luma.withUnsafeBufferPointer { luma in
            unsafe first.withUnsafeBufferPointer { first in
                unsafe second.withUnsafeBufferPointer { second in
                    for row in 0..<(frame.height + 1) / 2 {
                        for column in 0..<(frame.width + 1) / 2 {
                            unsafe block(
                                planes, row: row, column: column, width: frame.width, height: frame.height, luma: luma,
                                first: first, second: second)
                        }
                    }
                }
            }
        }
        return target
    }

    /// Converts a block of four luma samples and their shared chroma.
    @inline(__always)
    private func block(
        _ planes: Planes, row: Int, column: Int, width: Int, height: Int, luma: UnsafeBufferPointer<UInt16>,
        first: UnsafeBufferPointer<UInt16>, second: UnsafeBufferPointer<UInt16>
    ) {
        let blue = min(1023, Int(unsafe planes.blue[row * planes.blueStride + column]))
        let red = min(1023, Int(unsafe planes.red[row * planes.redStride + column]))
        let (blueNode, redNode) = (blue >> 5, red >> 5)
        let (blueRest, redRest) = (blue & 31, red & 31)
        let nodes = Self.chromaNodes
        let near = (blueNode * nodes + redNode) * Self.lumaNodes
        let far = near + nodes * Self.lumaNodes
        let weights = (
            (32 - blueRest) * (32 - redRest), (32 - blueRest) * redRest, blueRest * (32 - redRest), blueRest * redRest
        )
        @inline(__always) func mixed(_ table: UnsafeBufferPointer<UInt16>, index: Int) -> Int {
            unsafe Int(table[near + index]) * weights.0 + Int(table[near + Self.lumaNodes + index]) * weights.1
                + Int(table[far + index]) * weights.2 + Int(table[far + Self.lumaNodes + index]) * weights.3
        }
        var sum = 0
        for y in row * 2..<min(height, row * 2 + 2) {
            for x in column * 2..<min(width, column * 2 + 2) {
                let code = min(1023, Int(unsafe planes.luma[y * planes.lumaStride + x]))
                sum = code
                let (node, rest) = (code >> 2, code & 3)
                var value = unsafe mixed(luma, index: node)
                if rest > 0 { value += (unsafe mixed(luma, index: node + 1) - value) * rest / 4 }
                // The weights add up to 1,024; entries are in 1/256.
                unsafe planes.outputLuma[y * planes.outputLumaStride + x] = UInt8(min(255, (value + 131_072) >> 18))
            }
        }
        let node = sum >> 2
        unsafe planes.outputBlue[row * planes.outputBlueStride + column] = UInt8(
            min(255, (unsafe mixed(first, index: node) + 131_072) >> 18))
        unsafe planes.outputRed[row * planes.outputRedStride + column] = UInt8(
            min(255, (unsafe mixed(second, index: node) + 131_072) >> 18))
    }

    /// Component addresses of both frames; strides in components.
    @unsafe private struct Planes {
        let luma: UnsafePointer<UInt16>
        let blue: UnsafePointer<UInt16>
        let red: UnsafePointer<UInt16>
        let lumaStride: Int
        let blueStride: Int
        let redStride: Int
        let outputLuma: UnsafeMutablePointer<UInt8>
        let outputBlue: UnsafeMutablePointer<UInt8>
        let outputRed: UnsafeMutablePointer<UInt8>
        let outputLumaStride: Int
        let outputBlueStride: Int
        let outputRedStride: Int

        init?(_ source: Frame, _ target: Frame) {
            let (from, to) = unsafe (source.raw.pointee, target.raw.pointee)
            guard let y = unsafe from.data.0, let u = unsafe from.data.1, let v = unsafe from.data.2,
                let outputY = unsafe to.data.0, let outputU = unsafe to.data.1, let outputV = unsafe to.data.2
            else { return nil }
            unsafe luma = unsafe UnsafeRawPointer(y).assumingMemoryBound(to: UInt16.self)
            unsafe blue = unsafe UnsafeRawPointer(u).assumingMemoryBound(to: UInt16.self)
            unsafe red = unsafe UnsafeRawPointer(v).assumingMemoryBound(to: UInt16.self)
            unsafe lumaStride = Int(clamping: unsafe from.linesize.0) / 2
            unsafe blueStride = Int(clamping: unsafe from.linesize.1) / 2
            unsafe redStride = Int(clamping: unsafe from.linesize.2) / 2
            unsafe (outputLuma, outputBlue, outputRed) = unsafe (outputY, outputU, outputV)
            unsafe outputLumaStride = Int(clamping: unsafe to.linesize.0)
            unsafe outputBlueStride = Int(clamping: unsafe to.linesize.1)
            unsafe outputRedStride = Int(clamping: unsafe to.linesize.2)
        }
    }
}
