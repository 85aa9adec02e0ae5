/// Whether a full tree has come to fit its pixels worse than it did.
struct LZWWear {
    /// Codes a judgement goes by, and how much of its best a tree may lose.
    private static let judgedCodes = 256
    private static let wornShare = 0.85

    private var codes = 0
    private var pixels = 0
    private var bestRate = 0.0

    /// Counts a code of so many pixels.
    mutating func isWorn(after length: Int) -> Bool {
        codes += 1
        pixels += length
        guard codes == Self.judgedCodes else { return false }
        let rate = Double(pixels) / Double(codes)
        (codes, pixels) = (0, 0)
        bestRate = max(bestRate, rate)
        return rate < bestRate * Self.wornShare
    }
}
