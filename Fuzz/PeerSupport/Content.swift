import Glibc

/// The bodies that scripts send: version `v` of a file has `v` in the upper half of each byte, and in the lower half
/// a value that depends on the byte's offset.
///
/// All bytes are above 0x7F, so that no byte of a head or of a chunk size is mistaken for content.
public enum Content {
    public static let firstVersion: UInt8 = 8
    public static let lastVersion: UInt8 = 14
    /// A byte of an unsolicited response.
    public static let surplus: UInt8 = 0xFF

    private static let pattern: [UInt8] = (0..<65_521).map { UInt8(truncatingIfNeeded: ($0 &* 40_503) >> 11) & 15 }

    public static func byte(_ version: UInt8, at place: Int) -> UInt8 {
        version << 4 | pattern[place % pattern.count]
    }

    public static func bytes(_ version: UInt8, _ places: Range<Int>) -> [UInt8] {
        let mark = version << 4
        var place = places.lowerBound % pattern.count
        return [UInt8](unsafeUninitializedCapacity: places.count) { buffer, count in
            for index in 0..<places.count {
                buffer[index] = mark | pattern[place]
                place += 1
                if place == pattern.count { place = 0 }
            }
            count = places.count
        }
    }

    /// The offsets at which bytes of one version follow those of another.
    public static func changes(in bytes: [UInt8]) -> [(after: Int, at: Int)] {
        var changes: [(after: Int, at: Int)] = []
        var last: (place: Int, version: UInt8)?
        for (place, byte) in bytes.enumerated() where byte >= 0x80 {
            if let last, last.version != byte >> 4 { changes.append((last.place, place)) }
            last = (place, byte >> 4)
        }
        return changes
    }
}

func isSet(_ name: String) -> Bool { getenv(name) != nil }
