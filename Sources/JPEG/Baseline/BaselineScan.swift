/// Decodes a scan to an eighth or two of its size: only the first coefficients of a block are looked at, and the others
/// are counted, most of them by twos. A picture of an eighth comes two to three times as fast as from libjpeg, which
/// spends its time on coefficients it then leaves out.
///
/// What is not as it should be ends it, and says nothing of the file: libjpeg, which forgives a lot, has the word then.
struct BaselineScan {
    /// The file is not what this knows, or is broken.
    struct Strange: Error {}

    private let frame: BaselineFrame
    /// Samples of a block across and down: 1 or 2.
    private let side: Int
    private var input: ScanBytes
    private let planes: [ScanPlane]

    /// - Parameter eighths: 1 or 2.
    init(_ frame: BaselineFrame, descriptor: CInt, eighths: Int, waitForMore: @escaping () -> Bool) {
        self.frame = frame
        side = eighths
        input = ScanBytes(descriptor: descriptor, offset: frame.scanOffset, waitForMore: waitForMore)
        planes = frame.components.map {
            ScanPlane($0, unitsAcross: frame.unitsAcross, unitsDown: frame.unitsDown, side: eighths)
        }
    }

    /// The components, decoded to the end.
    mutating func decode() throws(Strange) -> [JPEGPlane] {
        try decodeUnits()
        try expectEnd()
        return planes.map(\.plane)
    }

    // Bounded throughout: sides have 16 bits, so a scan has at most 2^26 units; a restart interval has 16, and is not 0
    // where one lies behind a unit. What was used lies within `input.count`, a few hundred thousand bytes.

    /// Bytes behind the last unit that are passed over: some encoders leave a few.
    private static let surplusBytesMax = 1_000_000

    /// The picture is followed by EOI.
    private mutating func expectEnd() throws(Strange) {
        var surplus = 0
        while case .bytes = input.continuation, surplus < Self.surplusBytesMax {
            surplus += input.count
            input.advance(past: input.count)
        }
        guard case .marker(0xD9) = input.continuation else { throw Strange() }
    }

    private mutating func decodeUnits() throws(Strange) {
        let units = frame.unitsAcross * frame.unitsDown
        var done = 0
        input.advance(past: 0)
        while done < units {
            let run = frame.restartInterval == 0 ? units : min(frame.restartInterval, units - done)
            if done > 0 { try restart(done / frame.restartInterval - 1) }
            try decodeRun(done..<(done + run))
            done += run
        }
    }

    /// The marker between two runs, whose numbers go round.
    private mutating func restart(_ number: Int) throws(Strange) {
        guard case .marker(let marker) = input.continuation, marker == 0xD0 + UInt8(number & 7) else { throw Strange() }
        input.restart()
        for plane in planes { plane.restart() }
    }

    /// The units between two markers.
    private mutating func decodeRun(_ units: Range<Int>) throws(Strange) {
        var next = units.lowerBound
        var skipped: UInt64 = 0
        while next < units.upperBound {
            let (end, used) = try decodePart(next..<units.upperBound, skipping: skipped)
            next = end
            skipped = UInt64(used & 7)
            if next < units.upperBound {
                guard case .bytes = input.continuation else { throw Strange() }
                input.advance(past: used >> 3)
            } else if frame.restartInterval > 0, input.count - (used + 7) >> 3 > 0 {
                throw Strange()
            }
        }
    }

    /// As many units as the bytes at hand are sure to hold.
    ///
    /// - Returns: The unit to go on with, and the bits that are used.
    private mutating func decodePart(_ units: Range<Int>, skipping bits: UInt64) throws(Strange) -> (Int, Int) {
        let isLast = if case .bytes = input.continuation { false } else { true }
        let limit = isLast ? input.count : input.count - ScanBytes.reserveBytes
        var (next, used, isStrange) = (units.lowerBound, 0, false)
        unsafe input.bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var reader = unsafe BitReader(base)
            reader.refill()
            reader.consume(bits)
            while next < units.upperBound, isLast || reader.usedBits >> 3 < limit {
                guard decodeUnit(next, &reader), reader.usedBits <= input.count * 8 else {
                    isStrange = true
                    return
                }
                next += 1
            }
            used = reader.usedBits
        }
        if isStrange || next == units.lowerBound { throw Strange() }
        return (next, used)
    }

    @inline(__always)
    private func decodeUnit(_ unit: Int, _ reader: inout BitReader) -> Bool {
        let (row, column) = unit.quotientAndRemainder(dividingBy: frame.unitsAcross)
        for plane in planes {
            guard plane.decodeBlocks(row: row, column: column, &reader) else { return false }
        }
        return true
    }
}
