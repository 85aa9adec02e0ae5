import Testing

@testable import MediaProcessing

/// Pseudorandom numbers from a fixed seed.
private struct FixedGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 31
    }
}

struct NearestColorFinderTests {
    private static func color(_ generator: inout FixedGenerator, within side: Int = 256) -> PackedColor {
        let numbers = (0..<3).map { _ in Int.random(in: 0..<side, using: &generator) }
        return PackedColor(red: numbers[0], green: numbers[1], blue: numbers[2])
    }

    /// By comparing all colors.
    private static func nearest(to color: PackedColor, in palette: GIFPalette) -> Int {
        let shown = palette.colors.indices.filter { palette.colors[$0] != 0 }
        return shown.min { palette.colors[$0].distance(to: color) < palette.colors[$1].distance(to: color) } ?? 0
    }

    @Test(arguments: [1, 2, 7, 8, 9, 100, 255, 256], [256, 20])
    func `The nearest color is found, and the first one on a tie`(count: Int, side: Int) {
        var generator = FixedGenerator(state: UInt64(count))
        let colors = (0..<count).map { _ in Self.color(&generator, within: side) }
        let palette = GIFPalette(colors, hasTransparency: count < 256)
        var finder = NearestColorFinder(palette)
        for _ in 0..<200 {
            let color = Self.color(&generator)
            let expected = Self.nearest(to: color, in: palette)
            #expect(Int(finder.nearest(to: color).index) == expected)
            #expect(finder.nearest(to: color).distance == palette.colors[expected].distance(to: color))
            #expect(Int(finder.nearestIndex(to: color)) == expected)
        }
    }

    @Test func `A palette without colors returns its transparent index for every color`() {
        var finder = NearestColorFinder(GIFPalette([], hasTransparency: true))
        #expect(finder.nearest(to: PackedColor(red: 1, green: 2, blue: 3)).index == 0)
    }

    /// The candidates of all cells together do not fit in 32 bits when all colors are equal.
    @Test func `A palette of equal colors returns its first index over the whole color space`() {
        let gray = PackedColor(red: 128, green: 128, blue: 128)
        var finder = NearestColorFinder(GIFPalette(Array(repeating: gray, count: 256), hasTransparency: false))
        for red in stride(from: 0, to: 256, by: 8) {
            for green in stride(from: 0, to: 144, by: 8) {
                for blue in stride(from: 0, to: 256, by: 8) {
                    let found = finder.nearest(to: PackedColor(red: red, green: green, blue: blue))
                    if found.index != 0 { Issue.record("\(red) \(green) \(blue): \(found)") }
                }
            }
        }
    }
}

struct PixelAreaTests {
    @Test func `The area of a change is its bounding box`() {
        var generator = FixedGenerator(state: 5)
        for count in 0..<40 {
            let positions = Set((0..<count).map { _ in Int.random(in: 0..<(17 * 11), using: &generator) })
            var expected = PixelArea()
            for position in positions { expected.include(x: position % 17, y: position / 17) }
            #expect(PixelArea(width: 17, height: 11) { positions.contains($0) } == expected)
        }
    }
}

struct LZWTrieTests {
    @Test func `A child is found only by its parent and index`() {
        var trie = LZWTrie(rootBits: 8)
        var generator = FixedGenerator(state: 9)
        var known: [Int: Int] = [:]
        while !trie.isFull {
            let parent = Int.random(in: 0..<trie.next, using: &generator)
            let index = UInt8.random(in: 0...255, using: &generator)
            guard parent != trie.clearCode, parent != trie.endCode, known[parent << 8 | Int(index)] == nil else {
                continue
            }
            known[parent << 8 | Int(index)] = trie.next
            trie.add(index, to: parent)
        }
        for parent in 0..<LZWTrie.codesMax {
            for index: UInt8 in [0, 1, 100, 255] {
                #expect(trie.child(of: parent, index) == known[parent << 8 | Int(index)] ?? LZWTrie.none)
            }
        }
        for (pair, child) in known { #expect(trie.child(of: pair >> 8, UInt8(pair & 0xFF)) == child) }
        trie.clear()
        for pair in known.keys { #expect(trie.child(of: pair >> 8, UInt8(pair & 0xFF)) == LZWTrie.none) }
    }
}
