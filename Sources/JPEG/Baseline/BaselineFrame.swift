/// What stands in front of the scan of a JPEG of the commonest kind: one scan of 8-bit samples in a sequential Huffman
/// code, all components in it.
///
/// Source: ITU-T T.81, annex B.
struct BaselineFrame: Sendable {
    struct Component: Sendable {
        /// Blocks of a unit of the scan, across and down.
        let across: Int
        let down: Int
        /// Samples of the whole picture, before any reduction.
        let width: Int
        let height: Int
        /// What coefficients are multiplied with, in zigzag order.
        let quantizers: [Int32]
        let direct: HuffmanTable
        let alternating: HuffmanTable
    }

    let components: [Component]
    /// Units of the scan across and down.
    let unitsAcross: Int
    let unitsDown: Int
    /// Units between two restart markers; 0 without any.
    let restartInterval: Int
    /// Where the scan's own bytes begin.
    let scanOffset: Int
}
