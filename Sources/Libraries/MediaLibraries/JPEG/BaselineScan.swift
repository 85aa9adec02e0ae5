import Glibc
import Linux

/// Decodes a scan to one or two eighths of its size: only the first coefficients of each block are decoded, and the
/// others are skipped, usually two per table lookup. At one eighth this is two to three times as fast as libjpeg, which
/// decodes coefficients that it then discards.
///
/// Any error ends the decoding. What the file has lost is then found by `BaselineScan.damage`.
struct BaselineScan {
    let frame: BaselineFrame
    /// Samples of a block across and down: 1 or 2.
    private let side: Int
    var input: ScanBytes
    private let planes: [ScanPlane]

    /// - Parameter eighths: 1 or 2.
    init(_ frame: BaselineFrame, descriptor: CInt, eighths: Int, waitForMore: @escaping () -> Bool) {
        self.frame = frame
        side = eighths
        input = ScanBytes(descriptor: descriptor, offset: frame.scanOffset, waitForMore: waitForMore)
        planes = frame.components.map {
            ScanPlane($0, mcusAcross: frame.mcusAcross, mcusDown: frame.mcusDown, side: eighths)
        }
    }

    // Bounded throughout: sides have 16 bits, so a scan has at most 2^26 MCUs; a restart interval has 16 bits, and is
    // not 0 where a restart marker follows an MCU. The bytes used lie within `input.count`, a few hundred thousand
    // bytes.

    var mcus: Int { frame.mcusAcross * frame.mcusDown }

    /// Decodes all components up to EOI.
    mutating func decode() throws(ScanError) -> [JPEGPlane] {
        var done = 0
        input.advance(past: 0)
        while done < mcus {
            let run = intervalLength(at: done)
            if done > 0 { try restart(done / frame.restartInterval - 1) }
            try decodeInterval(done..<(done + run))
            done += run
        }
        switch input.continuation {
        case .marker(0xD9): return planes.map(\.plane)
        case .end: throw .endMissing
        case .marker, .bytes: throw .unexpectedMarker
        }
    }

    /// MCUs from `mcu` to the next restart marker.
    func intervalLength(at mcu: Int) -> Int {
        frame.restartInterval == 0 ? mcus : min(frame.restartInterval, mcus - mcu)
    }

    /// Consumes the marker between two restart intervals; markers count from 0 to 7 and start over.
    private mutating func restart(_ number: Int) throws(ScanError) {
        guard case .marker(let marker) = input.continuation, marker == 0xD0 + UInt8(number & 7) else {
            throw .unexpectedMarker
        }
        restart()
    }

    mutating func restart() {
        input.restart()
        for plane in planes { plane.restart() }
    }

    /// Decodes the MCUs between two restart markers, and checks that only padding is left before the next marker.
    mutating func decodeInterval(_ mcus: Range<Int>) throws(ScanError) {
        var next = mcus.lowerBound
        var skipped: UInt64 = 0
        while true {
            let (end, used) = try decodePart(next..<mcus.upperBound, skipping: skipped)
            next = end
            skipped = UInt64(used & 7)
            guard next < mcus.upperBound else {
                guard input.skipPadding(after: (used + 7) >> 3) else { throw .surplus }
                return
            }
            guard case .bytes = input.continuation else { throw .dataEnds(mcu: next) }
            input.advance(past: used >> 3)
        }
    }

    /// Decodes as many MCUs as the buffered bytes are sure to hold.
    ///
    /// - Returns: The next MCU, and the number of bits used.
    private mutating func decodePart(_ mcus: Range<Int>, skipping bits: UInt64) throws(ScanError) -> (Int, Int) {
        let isLast = if case .bytes = input.continuation { false } else { true }
        let limit = isLast ? input.count : input.count - ScanBytes.reserveBytes
        var (next, used, isInvalid) = (mcus.lowerBound, 0, false)
        unsafe input.bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var reader = unsafe BitReader(base)
            reader.refill()
            reader.consume(bits)
            while next < mcus.upperBound, isLast || reader.usedBits >> 3 < limit {
                isInvalid = !decodeMCU(next, reader: &reader)
                used = reader.usedBits
                if isInvalid || used > input.count * 8 { return }
                next += 1
            }
        }
        // The padding of the last byte may be read as an invalid code.
        if isLast, used > (input.count - ScanBytes.readAheadBytes) * 8, next < mcus.upperBound {
            throw .dataEnds(mcu: next)
        }
        if isInvalid { throw planes.contains(where: \.isOutOfRange) ? .outOfRange : .invalidCode(mcu: next) }
        if next == mcus.lowerBound { throw .dataEnds(mcu: next) }
        return (next, used)
    }

    @inline(__always)
    private func decodeMCU(_ mcu: Int, reader: inout BitReader) -> Bool {
        let (row, column) = mcu.quotientAndRemainder(dividingBy: frame.mcusAcross)
        for plane in planes {
            guard plane.decodeBlocks(row: row, column: column, &reader) else { return false }
        }
        return true
    }
}

/// The samples of one component while its blocks are decoded, in rows that are padded to whole MCUs.
///
/// Owns raw buffers, because bounds checks on each write would be measurable.
@safe final class ScanPlane {
    private let component: BaselineFrame.Component
    /// Samples of a block across and down: 1 or 2.
    private let side: Int
    private let stride: Int
    private let samples: UnsafeMutablePointer<UInt8>
    private let quantizers: UnsafeMutablePointer<Int32>
    /// The DC coefficient of the previous block, from which the next one is predicted.
    private var dc: Int32 = 0
    /// The largest magnitude of a DC coefficient: samples of 8 bits give at most 1,024, and rounding adds at most half
    /// a quantizer.
    private let levelMax: Int32
    /// Whether a DC coefficient was larger: differences from damaged data add up.
    private(set) var isOutOfRange = false

    // Bounded throughout: sides have 16 bits, factors are at most 4 and a block becomes two samples a side, so a plane
    // has fewer than 2^30. `offset` lies in the plane, since row and column are those of an MCU.

    init(_ component: BaselineFrame.Component, mcusAcross: Int, mcusDown: Int, side: Int) {
        self.component = component
        self.side = side
        stride = mcusAcross * component.horizontalSampling * side
        let count = stride * mcusDown * component.verticalSampling * side
        unsafe samples = .allocate(capacity: count)
        unsafe samples.initialize(repeating: 0, count: count)
        unsafe quantizers = .allocate(capacity: component.quantizers.count)
        unsafe quantizers.initialize(from: component.quantizers, count: component.quantizers.count)
        levelMax = 1_024 + component.quantizers[0]
    }

    deinit {
        unsafe samples.deallocate()
        unsafe quantizers.deallocate()
    }

    /// The decoded samples without the padding to whole MCUs.
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

    /// DC prediction starts over after a restart marker.
    func restart() { (dc, isOutOfRange) = (0, false) }

    /// Decodes the blocks of one MCU; false for an invalid Huffman code, and for a mean that no samples have.
    @inline(__always)
    func decodeBlocks(row: Int, column: Int, _ reader: inout BitReader) -> Bool {
        for blockRow in 0..<component.verticalSampling {
            for blockColumn in 0..<component.horizontalSampling {
                let offset =
                    (row &* component.verticalSampling &+ blockRow) &* side &* stride
                    &+ (column &* component.horizontalSampling &+ blockColumn) &* side
                guard unsafe decodeBlock(to: samples + offset, &reader) else { return false }
            }
        }
        return true
    }

    @inline(__always)
    private func decodeBlock(to target: UnsafeMutablePointer<UInt8>, _ reader: inout BitReader) -> Bool {
        guard let difference = reader.coefficient(component.dc) else { return false }
        dc &+= difference
        let level = unsafe dc &* quantizers[0]
        guard level.magnitude <= levelMax else {
            isOutOfRange = true
            return false
        }
        if side == 1 {
            unsafe target[0] = Self.sample(level)
            return reader.skipCoefficients(from: 1, component.ac)
        }
        var low = (right: Int32(0), below: Int32(0), both: Int32(0))
        guard let next = unsafe reader.lowCoefficients(component.ac, quantizers: quantizers, low: &low),
            next == 64 || reader.skipCoefficients(from: next, component.ac)
        else { return false }
        unsafe target[0] = Self.sample(level &+ low.right &+ low.below &+ low.both)
        unsafe target[1] = Self.sample(level &- low.right &+ low.below &- low.both)
        unsafe target[stride] = Self.sample(level &+ low.right &- low.below &- low.both)
        unsafe target[stride + 1] = Self.sample(level &- low.right &- low.below &+ low.both)
        return true
    }

    /// The mean of a block: its DC coefficient divided by 8, shifted to the middle of the range. T.81, A.3.3.
    @inline(__always)
    private static func sample(_ level: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: max(0, min(255, (level &+ 4) &>> 3 &+ 128)))
    }
}

/// The entropy-coded bytes of a scan up to the next marker, with the zeros stuffed after 0xFF removed.
///
/// Source: ITU-T T.81, B.1.1.5.
struct ScanBytes {
    /// What follows the buffered bytes.
    enum Continuation {
        /// More entropy-coded bytes.
        case bytes
        /// The given marker.
        case marker(UInt8)
        /// Nothing: the file ends here.
        case end
    }

    /// Bytes read from the file at a time.
    private static let rawBytes = 131_072
    /// More bytes than the largest MCU (ten blocks) takes, so that the end need not be checked within one.
    static let reserveBytes = 4096
    /// Bytes before the end of the data in which a decoder that lacks data may stop at an invalid code.
    static let readAheadBytes = 8
    /// Bytes of any value that encoders leave before a marker; a long padding repeats one value.
    private static let strayBytesMax = 16
    /// Zeros after the last byte, which the decoder may read ahead but not use.
    private static let padding = [UInt8](repeating: 0, count: reserveBytes)

    private let descriptor: CInt
    private let waitForMore: () -> Bool
    private var offset: Int
    private var raw: [UInt8] = []
    private var rawIndex = 0
    /// The buffered bytes, followed by zeros.
    private(set) var bytes: [UInt8] = []
    /// How many of the buffered bytes belong to the scan.
    private(set) var count = 0
    private(set) var continuation = Continuation.bytes

    /// - Parameter offset: File offset of the entropy-coded data.
    init(descriptor: CInt, offset: Int, waitForMore: @escaping () -> Bool) {
        self.waitForMore = waitForMore
        self.descriptor = descriptor
        self.offset = offset
    }

    // Bounded throughout: indexes lie in `raw`, which holds two reads at most, and `bytes` few more; `offset` is how
    // far the file was read.

    /// Drops the bytes that were used and refills the buffer beyond the reserve, unless a marker comes first.
    mutating func advance(past used: Int) {
        bytes.removeLast(bytes.count - count)
        bytes.removeFirst(used)
        while bytes.count < Self.rawBytes, case .bytes = continuation { unstuff() }
        count = bytes.count
        bytes += Self.padding
    }

    /// Moves on to the next marker, or the end of the file; false when what is skipped is neither short nor the padding
    /// of an encoder, and so was image data.
    mutating func skipPadding(after used: Int) -> Bool {
        var (start, skipped, value, isUniform) = (used, 0, UInt8?.none, true)
        while true {
            for byte in bytes[min(start, count)..<count] {
                isUniform = isUniform && byte == value ?? byte
                value = byte
                skipped += 1
                if !isUniform, skipped > Self.strayBytesMax { return false }
            }
            guard case .bytes = continuation else { return true }
            start = 0
            advance(past: count)
        }
    }

    /// Moves on to the next marker, or the end of the file.
    mutating func skipToMarker() {
        while case .bytes = continuation { advance(past: count) }
    }

    /// Continues after a restart marker.
    mutating func restart() {
        continuation = .bytes
        count = 0
        bytes.removeAll(keepingCapacity: true)
        advance(past: 0)
    }

    /// Moves raw bytes into `bytes` up to the next marker, and removes stuffed zeros.
    private mutating func unstuff() {
        guard rawIndex < raw.count || read() else { return }
        while rawIndex < raw.count {
            let mark = nextMark()
            bytes += raw[rawIndex..<mark]
            rawIndex = mark
            guard mark < raw.count else { return }
            // The byte after 0xFF decides what it is, and may not have been read yet.
            if mark + 1 == raw.count, !read() { return }
            switch raw[rawIndex + 1] {
            case 0:
                bytes.append(0xFF)
                rawIndex += 2
            // Any number of 0xFF may precede a marker as fill bytes.
            case 0xFF: rawIndex += 1
            case let marker:
                rawIndex += 2
                continuation = .marker(marker)
                return
            }
        }
    }

    private func nextMark() -> Int {
        unsafe raw.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = unsafe memchr(base + rawIndex, 0xFF, buffer.count - rawIndex)
            else { return buffer.count }
            return unsafe found - UnsafeMutableRawPointer(mutating: base)
        }
    }

    /// Reads the next bytes after those not yet unstuffed. False at the end of the file.
    private mutating func read() -> Bool {
        raw.removeFirst(rawIndex)
        rawIndex = 0
        let kept = raw.count
        var piece: [UInt8]
        repeat {
            piece = (try? FileIO.bytes(descriptor, at: offset, count: Self.rawBytes)) ?? []
        } while piece.isEmpty && waitForMore()
        offset += piece.count
        raw = kept == 0 ? piece : raw + piece
        if piece.isEmpty { continuation = .end }
        return !piece.isEmpty
    }
}
