/// One component while its blocks come in: its samples, in rows that are filled up to whole units of the scan.
///
/// Owns its buffers, which are written where every check would be felt.
@safe final class ScanPlane {
    private let component: BaselineFrame.Component
    /// Samples of a block across and down: 1 or 2.
    private let side: Int
    private let stride: Int
    private let samples: UnsafeMutablePointer<UInt8>
    private let quantizers: UnsafeMutablePointer<Int32>
    /// The last block's first coefficient, which the next one leans on.
    private var direct: Int32 = 0

    // Bounded throughout: sides have 16 bits, factors are at most 4 and a block becomes two samples a side, so a plane
    // has fewer than 2^30. `place` lies in it, since a row and a column are units of the scan.

    init(_ component: BaselineFrame.Component, unitsAcross: Int, unitsDown: Int, side: Int) {
        self.component = component
        self.side = side
        stride = unitsAcross * component.across * side
        let count = stride * unitsDown * component.down * side
        unsafe samples = .allocate(capacity: count)
        unsafe samples.initialize(repeating: 0, count: count)
        unsafe quantizers = .allocate(capacity: component.quantizers.count)
        unsafe quantizers.initialize(from: component.quantizers, count: component.quantizers.count)
    }

    deinit {
        unsafe samples.deallocate()
        unsafe quantizers.deallocate()
    }

    /// What came in, without what fills the units up.
    var plane: JPEGPlane {
        let (width, height) = ((component.width * side + 7) / 8, (component.height * side + 7) / 8)
        let kept = unsafe [UInt8](unsafeUninitializedCapacity: width * height) { target, filled in
            for row in 0..<height {
                unsafe target.baseAddress?.advanced(by: row * width).update(from: samples + row * stride, count: width)
            }
            filled = width * height
        }
        return JPEGPlane(width: width, height: height, samples: kept)
    }

    /// Behind a restart marker nothing leans on what was before.
    func restart() { direct = 0 }

    /// Decodes the blocks of a unit; false for what is no code.
    @inline(__always)
    func decodeBlocks(row: Int, column: Int, _ reader: inout BitReader) -> Bool {
        for blockRow in 0..<component.down {
            for blockColumn in 0..<component.across {
                let place =
                    (row &* component.down &+ blockRow) &* side &* stride
                    &+ (column &* component.across &+ blockColumn) &* side
                guard unsafe decodeBlock(to: samples + place, &reader) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    private func decodeBlock(to target: UnsafeMutablePointer<UInt8>, _ reader: inout BitReader) -> Bool {
        guard let difference = reader.coefficient(component.direct) else { return false }
        direct &+= difference
        let level = unsafe direct &* quantizers[0]
        if side == 1 {
            unsafe target[0] = Self.sample(level)
            return reader.skipCoefficients(from: 1, component.alternating)
        }
        var low = (right: Int32(0), below: Int32(0), both: Int32(0))
        guard let next = unsafe reader.lowCoefficients(component.alternating, quantizers: quantizers, &low),
            next == 64 || reader.skipCoefficients(from: next, component.alternating)
        else { return false }
        unsafe target[0] = Self.sample(level &+ low.right &+ low.below &+ low.both)
        unsafe target[1] = Self.sample(level &- low.right &+ low.below &- low.both)
        unsafe target[stride] = Self.sample(level &+ low.right &- low.below &- low.both)
        unsafe target[stride + 1] = Self.sample(level &- low.right &- low.below &+ low.both)
        return true
    }

    /// The mean of what a coefficient stands for: an eighth of it, around the middle. T.81, A.3.3.
    @inline(__always)
    private static func sample(_ level: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, (level &+ 4) &>> 3 &+ 128)))
    }
}
