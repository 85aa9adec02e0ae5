import JPEG

/// Movies' luma goes from 16 to 235 and their chroma from 16 to 240; a JPEG's go from 0 to 255.
///
/// Source: ISO/IEC 23091-2, 8.3, "VideoFullRangeFlag".
enum SampleRange {
    static func full(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        planes.enumerated().map { number, plane in
            let table = number == 0 ? luma : chroma
            return JPEGPlane(width: plane.width, height: plane.height, samples: plane.samples.map { table[Int($0)] })
        }
    }

    private static let luma = (0...255).map { byte(Double($0 - 16) * 255 / 219) }
    private static let chroma = (0...255).map { byte(Double($0 - 128) * 255 / 224 + 128) }

    private static func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
}
