import Testing

@testable import MediaProcessing

struct ColourFinderTests {
    /// Numbers that look like chance and are the same each time.
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 31
        }
    }

    private static func color(_ chance: inout Chance, within side: Int = 256) -> PackedColor {
        let numbers = (0..<3).map { _ in Int.random(in: 0..<side, using: &chance) }
        return PackedColor(red: numbers[0], green: numbers[1], blue: numbers[2])
    }

    /// By looking at all of them.
    private static func nearest(to color: PackedColor, in palette: GIFPalette) -> Int {
        let shown = palette.colors.indices.filter { palette.colors[$0] != 0 }
        return shown.min { palette.colors[$0].distance(to: color) < palette.colors[$1].distance(to: color) } ?? 0
    }

    @Test(arguments: [1, 2, 7, 8, 9, 100, 255, 256], [256, 20])
    func `The nearest color is found, and the first of those that are equally near`(count: Int, side: Int) {
        var chance = Chance(state: UInt64(count))
        let colors = (0..<count).map { _ in Self.color(&chance, within: side) }
        let palette = GIFPalette(colors, hasTransparency: count < 256)
        var finder = NearestColorFinder(palette)
        for _ in 0..<200 {
            let color = Self.color(&chance)
            let expected = Self.nearest(to: color, in: palette)
            #expect(Int(finder.nearest(to: color).index) == expected)
            #expect(finder.nearest(to: color).distance == palette.colors[expected].distance(to: color))
            #expect(Int(finder.nearestIndex(to: color)) == expected)
        }
    }

    @Test func `A palette without a color has its transparent index for all`() {
        var finder = NearestColorFinder(GIFPalette([], hasTransparency: true))
        #expect(finder.nearest(to: PackedColor(red: 1, green: 2, blue: 3)).index == 0)
    }

    /// What all cells have to remember of a palette of equals does not fit in 32 bits.
    @Test func `A palette of equal colors answers for all of color space`() {
        let grey = PackedColor(red: 128, green: 128, blue: 128)
        var finder = NearestColorFinder(GIFPalette(Array(repeating: grey, count: 256), hasTransparency: false))
        for red in stride(from: 0, to: 256, by: 8) {
            for green in stride(from: 0, to: 144, by: 8) {
                for blue in stride(from: 0, to: 256, by: 8) {
                    let found = finder.nearest(to: PackedColor(red: red, green: green, blue: blue))
                    if found.index != 0 { Issue.record("\(red) \(green) \(blue): \(found)") }
                }
            }
        }
    }

    @Test func `The area of a change is all of it and no more`() {
        var chance = Chance(state: 5)
        for count in 0..<40 {
            let places = Set((0..<count).map { _ in Int.random(in: 0..<(17 * 11), using: &chance) })
            var expected = PixelArea()
            for place in places { expected.include(x: place % 17, y: place / 17) }
            #expect(PixelArea(width: 17, height: 11) { places.contains($0) } == expected)
        }
    }

    @Test func `A child is found by its parent and index, and no other is`() {
        var trie = LZWTrie(rootBits: 8)
        var chance = Chance(state: 9)
        var known: [Int: Int] = [:]
        while !trie.isFull {
            let parent = Int.random(in: 0..<trie.next, using: &chance)
            let index = UInt8.random(in: 0...255, using: &chance)
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
