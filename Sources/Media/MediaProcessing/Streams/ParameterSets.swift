import MediaLibraries
import SafeArithmetic

/// The parameter sets of an H.264 or HEVC stream, in its decoder configuration and in its samples.
///
/// A sample entry `avc1` or `hvc1` has all sets that its samples need, and VideoToolbox reads no others: a stream that
/// changes them, and with them its size, cannot be described by one entry.
/// Source: ISO/IEC 14496-15, 5.3.3.1 and 5.4.2.1 (`avcC`, `avc1`), 8.3.3.1 and 8.4.1 (`hvcC`, `hvc1`).
struct ParameterSetScan {
    enum Status {
        case complete
        /// The samples have sets that the configuration lacks.
        case incomplete
        /// Sets change in the middle.
        case changing
    }

    private let codec: NALUnitValidator.Codec
    /// Reads the samples; nil if their units begin with start codes.
    private let lengths: NALUnitValidator?
    private let configuration: [UInt8]
    private let declared: ParameterSets
    private var found = ParameterSets()
    private var isAtStart = true
    /// Whether the first sample has sets, which then replace those of the configuration.
    private var beginsWithSets = false
    private var isChanging = false

    /// Nil for other codecs.
    init?(_ stream: StreamDescription) {
        guard stream.kind == .video, stream.codec == "h264" || stream.codec == "hevc" else { return nil }
        codec = stream.codec == "h264" ? .h264 : .hevc
        configuration = stream.configuration
        lengths = NALUnitValidator(codec: stream.codec, configuration: configuration)
        declared = ParameterSets(configuration: configuration, codec)
    }

    /// Processes the next packet of the stream.
    mutating func record(_ packet: Packet) {
        if packet.byteCount == 0 { return }
        if let new = packet.newConfiguration, new != configuration, !configuration.isEmpty { isChanging = true }
        var sets = ParameterSets()
        packet.withBytes { sample in
            // Parameter sets come before the first slice.
            func accepts(_ unit: RawSpan) -> Bool { !sets.add(unit, codec: codec) }
            if let lengths { _ = lengths.parse(sample, accepts) } else { StartCodes.parse(sample, accepts) }
        }
        if isAtStart { beginsWithSets = !sets.isEmpty }
        isAtStart = false
        if !sets.isEmpty, !found.merge(sets) { isChanging = true }
    }

    var status: Status {
        if isChanging { return .changing }
        if found.isEmpty || declared.contains(found) { return .complete }
        var all = declared
        return all.merge(found) || beginsWithSets ? .incomplete : .changing
    }

    /// Whether one sample entry can describe the stream.
    var isCopyable: Bool {
        switch status {
        case .complete: true
        case .incomplete: completedConfiguration != nil
        case .changing: false
        }
    }

    /// A configuration with all sets, in the form of the source's; nil if the source's is complete.
    var completedConfiguration: [UInt8]? {
        guard status == .incomplete else { return nil }
        var all = declared
        let sets = all.merge(found) ? all : found
        guard sets.isSufficient(codec) else { return nil }
        guard lengths != nil else { return sets.withStartCodes }
        return codec == .h264 ? sets.avcC(like: configuration) : sets.hvcC(like: configuration)
    }
}

/// Parameter sets without start codes or lengths.
private struct ParameterSets {
    private enum Kind { case video, sequence, picture }

    /// VPS, SPS and PPS in order of appearance.
    private var video: [[UInt8]] = []
    private var sequences: [[UInt8]] = []
    private var pictures: [(id: Int, bytes: [UInt8])] = []

    // Bounded: lists are joined.
    private var all: [[UInt8]] { video + sequences + pictures.map(\.bytes) }

    var isEmpty: Bool { all.isEmpty }

    init() {}

    /// The sets of an `avcC` or `hvcC` box, or of units with start codes.
    init(configuration: [UInt8], _ codec: NALUnitValidator.Codec) {
        guard configuration.first == 1 else {
            unsafe StartCodes.parse(configuration.span.bytes) { unit in
                add(unit, codec: codec)
                return true
            }
            return
        }
        var reader = ConfigurationReader(configuration)
        switch codec {
        case .h264:
            reader.skip(5)
            for _ in 0..<(reader.byte() & 31) { add(reader.unit(), codec: codec) }
            for _ in 0..<reader.byte() { add(reader.unit(), codec: codec) }
        case .hevc:
            reader.skip(22)
            for _ in 0..<reader.byte() {
                reader.skip(1)
                for _ in 0..<reader.number() where !reader.isAtEnd { add(reader.unit(), codec: codec) }
            }
        }
    }

    private mutating func add(_ unit: [UInt8], codec: NALUnitValidator.Codec) {
        unsafe add(unit.span.bytes, codec: codec)
    }

    /// Adds a unit if it is a parameter set of the base layer.
    ///
    /// - Returns: Whether it is a slice, which no set follows.
    // Bounded throughout: offsets in the unit.
    @discardableResult
    mutating func add(_ unit: RawSpan, codec: NALUnitValidator.Codec) -> Bool {
        guard unit.byteCount > 2 else { return false }
        let kind: Kind
        switch codec {
        case .h264:
            switch unit.byte(0) & 0x1F {
            case 1...5: return true
            case 7: kind = .sequence
            case 8: kind = .picture
            default: return false
            }
        case .hevc:
            // A layer above 0 is the second view of a stereoscopic movie.
            guard unit.byte(0) & 1 == 0, unit.byte(1) >> 3 == 0 else { return false }
            switch unit.byte(0) >> 1 {
            case 0...31: return true
            case 32: kind = .video
            case 33: kind = .sequence
            case 34: kind = .picture
            default: return false
            }
        }
        var end = unit.byteCount
        // Zeros may follow a unit.
        while end > 3, unit.byte(end - 1) == 0 { end -= 1 }
        let bytes = (0..<end).map { unit.byte($0) }
        switch kind {
        case .video where !video.contains(bytes): video.append(bytes)
        case .sequence where !sequences.contains(bytes): sequences.append(bytes)
        case .picture:
            // pic_parameter_set_id follows the unit's header.
            var bits = NALBitReader(unit, from: codec == .h264 ? 1 : 2)
            _ = insertPicture((bits.exponential().map { Int(clamping: $0) } ?? -1, bytes))
        default: break
        }
        return false
    }

    /// - Returns: False if another set has the same identifier.
    private mutating func insertPicture(_ picture: (id: Int, bytes: [UInt8])) -> Bool {
        if let other = pictures.first(where: { $0.id == picture.id }) { return other.bytes == picture.bytes }
        pictures.append(picture)
        return true
    }

    /// Adds other sets of the same stream.
    ///
    /// - Returns: False if one takes the place of another: then the stream needs both in turn.
    mutating func merge(_ other: ParameterSets) -> Bool {
        for set in other.video where !video.contains(set) { video.append(set) }
        for set in other.sequences where !sequences.contains(set) { sequences.append(set) }
        var isConsistent = video.count <= 1 && sequences.count <= 1
        for picture in other.pictures where !insertPicture(picture) { isConsistent = false }
        return isConsistent
    }

    func contains(_ other: ParameterSets) -> Bool { Set(all).isSuperset(of: other.all) }

    /// Whether a decoder can start with these sets.
    func isSufficient(_ codec: NALUnitValidator.Codec) -> Bool {
        !sequences.isEmpty && !pictures.isEmpty && (codec == .h264 || !video.isEmpty)
    }

    // MARK: Configurations

    // Bounded throughout: lists are joined, and bits set.

    var withStartCodes: [UInt8] { all.flatMap { [0, 0, 0, 1] + $0 } }

    private static func counted(_ sets: [[UInt8]]) -> [UInt8] {
        sets.flatMap { [UInt8(truncatingIfNeeded: $0.count >> 8), UInt8(truncatingIfNeeded: $0.count)] + $0 }
    }

    /// Profiles whose `avcC` also states chroma format and bit depth.
    private static let highProfiles: Set<UInt8> = [100, 110, 122, 144]

    /// - Parameter configuration: Gives the length of the prefixes.
    func avcC(like configuration: [UInt8]) -> [UInt8]? {
        guard let sequence = sequences.first, sequence.count > 3, configuration.count > 4 else { return nil }
        var box: [UInt8] = [1, sequence[1], sequence[2], sequence[3], configuration[4] | 0xFC]
        box += [0xE0 | UInt8(truncatingIfNeeded: sequences.count)] + Self.counted(sequences)
        box += [UInt8(truncatingIfNeeded: pictures.count)] + Self.counted(pictures.map(\.bytes))
        // Only 8-bit 4:2:0 is copied; no extensions of the sequence parameter set follow.
        if Self.highProfiles.contains(sequence[1]) { box += [0xFC | 1, 0xF8, 0xF8, 0] }
        return box
    }

    /// - Parameter configuration: Gives profile, chroma format, bit depth and the length of the prefixes.
    func hvcC(like configuration: [UInt8]) -> [UInt8]? {
        guard configuration.count > 22 else { return nil }
        var box = Array(configuration.prefix(22)) + [3]
        // The highest bit says that all sets of the type are here.
        for (type, sets) in [(32, video), (33, sequences), (34, pictures.map(\.bytes))] {
            box += [0x80 | UInt8(truncatingIfNeeded: type), 0, UInt8(truncatingIfNeeded: sets.count)]
            box += Self.counted(sets)
        }
        return box
    }
}

/// Reads the numbers and units of an `avcC` or `hvcC` box; after its end, zeros and empty units.
private struct ConfigurationReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { offset >= bytes.count }

    mutating func skip(_ count: Int) { offset = offset.adding(clamping: count) }

    mutating func byte() -> UInt8 {
        defer { skip(1) }
        return bytes.indices.contains(offset) ? bytes[offset] : 0
    }

    // Bounded: 16 bits.
    mutating func number() -> Int { Int(byte()) << 8 | Int(byte()) }

    mutating func unit() -> [UInt8] {
        let count = number()
        defer { skip(count) }
        return Array(bytes.dropFirst(offset).prefix(count))
    }
}

/// Splits a stream of NAL units with start codes.
///
/// Source: ITU-T H.264, annex B.
// Bounded throughout: offsets in the sample.
enum StartCodes {
    /// Passes units to `accepts` until it returns false; a slice is passed without looking for its end.
    static func parse(_ sample: RawSpan, _ accepts: (RawSpan) -> Bool) {
        var start = next(sample, from: 0)
        while let begin = start, begin < sample.byteCount {
            let following = next(sample, from: begin, countMax: unitBytesMax)
            let end = following.map { $0 - 3 } ?? sample.byteCount
            guard end > begin, accepts(sample.extracting(begin..<end)) else { return }
            start = following
        }
    }

    /// Parameter sets are shorter; the end of a longer unit is not searched for.
    private static let unitBytesMax = 65_536

    /// The offset after the next start code.
    private static func next(_ sample: RawSpan, from start: Int, countMax: Int = .max) -> Int? {
        var position = start
        let end = min(sample.byteCount, start.adding(clamping: countMax))
        while position + 3 <= end {
            if sample.byte(position + 2) > 1 {
                position += 3
            } else if sample.byte(position) == 0, sample.byte(position + 1) == 0, sample.byte(position + 2) == 1 {
                return position + 3
            } else {
                position += 1
            }
        }
        return nil
    }
}
