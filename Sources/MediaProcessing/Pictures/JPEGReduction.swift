import JPEG

/// How far a JPEG is reduced while it is decoded, so that a filter has the last word on what is seen. Pure.
enum JPEGReduction {
    /// What has to be left to the filter. At half of a pixel more than what is wanted, no stairs and no false patterns
    /// are seen in a thumbnail; less would show the edges of the decoder's blocks.
    private static let restMin = 1.5

    /// Eighths of the size: the fewest that leave the filter its part, or all.
    static func eighths(width: Int, height: Int, target: (width: Int, height: Int)) -> Int {
        let rest = min(Double(width) / Double(target.width), Double(height) / Double(target.height))
        return JPEGDecoder.reductions.first { rest * Double($0) / 8 >= restMin } ?? 8
    }
}
