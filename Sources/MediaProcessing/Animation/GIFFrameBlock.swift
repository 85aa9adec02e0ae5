/// A frame of a GIF as its file has it: where it goes, and where its colours and its code are.
package struct GIFFrameBlock: Sendable, Hashable {
    /// What becomes of the canvas when the frame's time is over.
    package enum Disposal: Sendable, Hashable {
        case keep
        /// The frame's area becomes transparent.
        case clear
        /// As it was before the frame.
        case restore
    }

    /// Pixels from the canvas's corner.
    package var left = 0
    package var top = 0
    /// Pixels.
    package var width = 0
    package var height = 0
    package var isInterlaced = false
    /// Milliseconds; 0 where the file says nothing.
    package var delay = 0
    package var disposal = Disposal.keep
    /// The index that shows nothing.
    package var transparent: UInt8?
    /// The frame's colours in the file, three bytes each; empty where it has none.
    package var colours = 0..<0
    /// Where the minimum code size is, which the blocks of code follow.
    package var code = 0

    // Bounded throughout: each number has two bytes.
    var right: Int { left + width }
    var bottom: Int { top + height }

    /// Whether it reaches over all of a canvas.
    func covers(width: Int, height: Int) -> Bool { left == 0 && top == 0 && right >= width && bottom >= height }

    /// The frame's row that is stored at each place, from the top; interlaced are four passes.
    ///
    /// Source: CompuServe, "Graphics Interchange Format 89a", appendix E.
    var storedRows: [Int] {
        guard isInterlaced else { return Array(0..<height) }
        return [(0, 8), (4, 8), (2, 4), (1, 2)].flatMap { Array(stride(from: $0.0, to: height, by: $0.1)) }
    }
}
