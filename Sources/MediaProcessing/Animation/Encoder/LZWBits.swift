/// Codes of varying width, lowest bit first.
struct LZWBits {
    private var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var pendingBits = 0

    mutating func append(_ code: Int, width: Int) {
        pending |= UInt32(truncatingIfNeeded: code) &<< UInt32(truncatingIfNeeded: pendingBits)
        pendingBits &+= width
        while pendingBits >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending &>>= 8
            pendingBits &-= 8
        }
    }

    /// The bytes, the last one filled up.
    mutating func finished() -> [UInt8] {
        if pendingBits > 0 { bytes.append(UInt8(truncatingIfNeeded: pending)) }
        (pending, pendingBits) = (0, 0)
        return bytes
    }
}
