import MediaProcessing
import RichPush
import Testing

@Suite struct DisplayMatrixTests {
    private static let one: Int32 = 65_536

    /// The matrices of ISO/IEC 14496-12 for the eight ways of EXIF.
    private static let table: [(a: Int32, b: Int32, c: Int32, d: Int32, orientation: Orientation)] = [
        (one, 0, 0, one, .upright), (-one, 0, 0, one, .mirrored), (-one, 0, 0, -one, .rotated180),
        (one, 0, 0, -one, .mirroredRotated180), (0, one, one, 0, .transposed), (0, one, -one, 0, .rotated90),
        (0, -one, -one, 0, .transversed), (0, -one, one, 0, .rotated270),
    ]

    private func matrix(_ a: Int32, _ b: Int32, _ c: Int32, _ d: Int32) -> [Int32] {
        [a, b, 0, c, d, 0, 0, 0, 1 << 30]
    }

    @Test(arguments: table.indices) func `each of the eight ways has its matrix`(index: Int) {
        let row = Self.table[index]
        #expect(orientation(ofDisplayMatrix: matrix(row.a, row.b, row.c, row.d)) == row.orientation)
    }

    @Test func `scale, position and a few degrees do not matter`() {
        #expect(orientation(ofDisplayMatrix: [3000, 20_000, 0, -20_000, 3000, 0, 55, 66, 1 << 30]) == .rotated90)
    }

    @Test func `no matrix and an empty one are upright`() {
        #expect(orientation(ofDisplayMatrix: nil) == .upright)
        #expect(orientation(ofDisplayMatrix: matrix(0, 0, 0, 0)) == .upright)
        #expect(orientation(ofDisplayMatrix: matrix(.min, 0, 0, .min)) == .rotated180)
    }
}
