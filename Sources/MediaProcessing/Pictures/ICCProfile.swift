/// A colour profile as a JPEG carries it.
///
/// Source: ICC.1:2010, 7.2 (header), 7.3 (tags) and B.4 (in JPEG).
enum ICCProfile {
    /// `ICC_PROFILE`, its number, and how many there are, behind a marker and a length.
    private static let partHeaderBytes = 18
    /// Their numbers have a byte; 16 MB with it.
    static let partsMax = 255
    /// A display's profile has a few dozen.
    private static let tagsMax = 100
    /// Of the name that is looked at.
    private static let descriptionBytesMax = 256

    // Bounded throughout: tags are counted before they are read, numbers have four bytes, parts of a segment one, and
    // what is read lies in memory.

    /// The profile of all its parts, in the order of their numbers; nil when one is missing or there twice.
    static func joined(_ segments: [[UInt8]]) -> [UInt8]? {
        var parts: [Int: ArraySlice<UInt8>] = [:]
        guard (1...partsMax).contains(segments.count) else { return nil }
        for segment in segments {
            guard segment.count > partHeaderBytes, Int(segment[partHeaderBytes - 1]) == segments.count,
                parts.updateValue(segment[partHeaderBytes...], forKey: Int(segment[partHeaderBytes - 2])) == nil
            else { return nil }
        }
        guard parts.keys.sorted() == Array(1...segments.count) else { return nil }
        return (1...segments.count).flatMap { parts[$0] ?? [] }
    }

    /// Whether it calls itself sRGB, as the profiles of cameras and editors do: there is nothing to convert then.
    static func isSRGB(_ profile: [UInt8]) -> Bool {
        guard let tags = tags(profile), profile[16..<20].elementsEqual("RGB ".utf8), let place = tags["desc"] else {
            return false
        }
        // In one byte a letter or in two.
        let letters = profile[place.prefix(descriptionBytesMax)].filter { $0 != 0 }
        return String(decoding: letters, as: UTF8.self).contains("sRGB")
    }

    /// Where each tag lies; nil for what is no profile, or is cut.
    static func tags(_ profile: [UInt8]) -> [String: Range<Int>]? {
        guard profile.count > 132 else { return nil }
        let count = number(profile, at: 128)
        guard (1...tagsMax).contains(count), 132 + count * 12 <= profile.count else { return nil }
        var places: [String: Range<Int>] = [:]
        for index in 0..<count {
            let entry = 132 + index * 12
            let (offset, length) = (number(profile, at: entry + 4), number(profile, at: entry + 8))
            guard offset <= profile.count, length <= profile.count - offset else { return nil }
            places[String(decoding: profile[entry..<(entry + 4)], as: UTF8.self)] = offset..<(offset + length)
        }
        return places
    }

    private static func number(_ bytes: [UInt8], at offset: Int) -> Int {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
