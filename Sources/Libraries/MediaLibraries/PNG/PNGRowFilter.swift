/// Filters rows of pixels so that they compress better, each with the filter whose differences are smallest. Owns the
/// buffers of a row.
///
/// Source: PNG (Third Edition), 9 "Filtering" and 12.7: https://www.w3.org/TR/png-3/
@safe final class PNGRowFilter {
    /// The filter types, as in the first byte of each row.
    private enum Kind: UInt8, CaseIterable {
        case none, sub, up, average, paeth
    }

    private let rowBytes: Int
    /// Bytes of a pixel.
    private let bands: Int
    private let candidates: UnsafeMutablePointer<UInt8>
    private let zeros: UnsafeMutablePointer<UInt8>

    /// Filters the rows of an image.
    ///
    /// - Parameters:
    ///   - pixels: rows without padding.
    ///   - width: in pixels, at least 1.
    ///   - bands: bytes of a pixel, 1 to 4.
    /// - Returns: For each row a byte with its filter, and its differences.
    static func filtered(_ pixels: RawSpan, width: Int, bands: Int) -> [UInt8] {
        let rowBytes = width * bands
        let height = pixels.byteCount / rowBytes
        let filter = PNGRowFilter(rowBytes: rowBytes, bands: bands)
        return unsafe [UInt8](unsafeUninitializedCapacity: height * (rowBytes + 1)) { output, count in
            unsafe pixels.withUnsafeBytes { source in
                guard let start = unsafe source.baseAddress?.assumingMemoryBound(to: UInt8.self),
                    let target = output.baseAddress
                else { return }
                var above = unsafe UnsafePointer(filter.zeros)
                for row in 0..<height {
                    let current = unsafe start + row * rowBytes
                    unsafe filter.write(current, above: above, to: target + row * (rowBytes + 1))
                    unsafe above = current
                }
                count = height * (rowBytes + 1)
            }
        }
    }

    /// The rows unfiltered.
    static func unfiltered(_ pixels: RawSpan, rowBytes: Int) -> [UInt8] {
        let height = pixels.byteCount / rowBytes
        var bytes: [UInt8] = []
        bytes.reserveCapacity(height * (rowBytes + 1))
        for row in 0..<height {
            bytes.append(Kind.none.rawValue)
            unsafe pixels.extracting(row * rowBytes..<(row + 1) * rowBytes).withUnsafeBytes {
                unsafe bytes.append(contentsOf: $0)
            }
        }
        return bytes
    }

    private init(rowBytes: Int, bands: Int) {
        self.rowBytes = rowBytes
        self.bands = bands
        unsafe candidates = .allocate(capacity: rowBytes * Kind.allCases.count)
        unsafe zeros = .allocate(capacity: rowBytes)
        unsafe zeros.initialize(repeating: 0, count: rowBytes)
    }

    deinit {
        unsafe candidates.deallocate()
        unsafe zeros.deallocate()
    }

    private func write(
        _ row: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>, to target: UnsafeMutablePointer<UInt8>
    ) {
        var best = (kind: Kind.none, sum: UInt32.max)
        for kind in Kind.allCases {
            let sum = unsafe apply(kind, row: row, above: above, output: candidate(kind))
            if sum < best.sum { best = (kind, sum) }
        }
        unsafe target.pointee = best.kind.rawValue
        unsafe (target + 1).update(from: candidate(best.kind), count: rowBytes)
    }

    private func candidate(_ kind: Kind) -> UnsafeMutablePointer<UInt8> {
        unsafe candidates + Int(kind.rawValue) * rowBytes
    }

    /// Writes the differences of a filter, and returns the sum of their absolute values. Simple loops without branches,
    /// which the compiler turns into vector instructions.
    private func apply(
        _ kind: Kind, row: UnsafePointer<UInt8>, above: UnsafePointer<UInt8>,
        output: UnsafeMutablePointer<UInt8>
    ) -> UInt32 {
        let first = min(bands, rowBytes)
        let left = unsafe row - first
        let aboveLeft = unsafe above - first
        switch kind {
        case .none: unsafe output.update(from: row, count: rowBytes)
        case .sub:
            unsafe output.update(from: row, count: first)
            for i in first..<rowBytes { unsafe output[i] = row[i] &- left[i] }
        case .up:
            for i in 0..<rowBytes { unsafe output[i] = row[i] &- above[i] }
        case .average:
            for i in 0..<first { unsafe output[i] = row[i] &- above[i] >> 1 }
            for i in first..<rowBytes {
                let sum = unsafe UInt16(truncatingIfNeeded: left[i]) &+ UInt16(truncatingIfNeeded: above[i])
                unsafe output[i] = row[i] &- UInt8(truncatingIfNeeded: sum &>> 1)
            }
        case .paeth:
            for i in 0..<first { unsafe output[i] = row[i] &- above[i] }
            for i in first..<rowBytes {
                let predicted = unsafe Self.paeth(left[i], above: above[i], aboveLeft: aboveLeft[i])
                unsafe output[i] = row[i] &- predicted
            }
        }
        var sum: UInt32 = 0
        for i in 0..<rowBytes { sum &+= unsafe UInt32(Int8(bitPattern: output[i]).magnitude) }
        return sum
    }

    private static func paeth(_ left: UInt8, above: UInt8, aboveLeft: UInt8) -> UInt8 {
        let (a, b, c) = (
            Int16(truncatingIfNeeded: left), Int16(truncatingIfNeeded: above), Int16(truncatingIfNeeded: aboveLeft)
        )
        let (toA, toB) = (b &- c, a &- c)
        let toC = toA &+ toB
        let (distanceA, distanceB, distanceC) = (
            max(toA, 0 &- toA), max(toB, 0 &- toB), max(toC, 0 &- toC)
        )
        let ofAboveOrCorner = distanceB <= distanceC ? above : aboveLeft
        return distanceA <= distanceB && distanceA <= distanceC ? left : ofAboveOrCorner
    }
}
