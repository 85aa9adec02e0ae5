import AttachPrepModel
import MediaEngine
import MediaLibraries
import MediaTypes

/// Validates the coded data of a still, independently of the decoder that is used later.
///
/// A decoder that reads the whole file (a JPEG thumbnail that is reduced while decoding) validates it itself; all other
/// paths call this first. Both use the same reader of the format, so the verdict depends neither on the size of a
/// thumbnail nor on how it is made.
enum StillValidator {
    /// The minimum share of a still that is shown as it was for a repair. It is higher than for movies and audio: their
    /// missing part comes last, while gaps in a still are always visible.
    static let repairShareMin = 0.75

    /// Rejects a still with any damage in its coded data.
    ///
    /// - Throws: `media.corrupt`.
    static func requireIntact(_ format: MediaFormat, source: CInt) throws {
        try format.imageFormat?.requireIntact(source)
    }

    static func requireIntactJPEG(_ source: CInt) throws {
        switch JPEGValidation(descriptor: source) {
        case .intact: break
        case .endMissing: throw corrupt("no end marker")
        case .damaged(let damage): throw corrupt(damage)
        case .unreadable: throw corrupt("libjpeg cannot decode it")
        }
    }

    static func requireIntactPNG(_ source: CInt) throws {
        if case .damaged(let what) = PNGValidation(descriptor: source) { throw corrupt(what) }
    }

    /// What has to be repaired in a JPEG.
    enum JPEGDefect {
        case damage(MediaDamage)
        /// Only the end marker is missing.
        case endMissing
    }

    /// The defect of a JPEG; nil for an intact one.
    ///
    /// - Throws: `media.corrupt` when too much is damaged for a repair.
    static func defect(ofJPEG source: CInt) throws -> JPEGDefect? {
        switch JPEGValidation(descriptor: source) {
        case .intact: return nil
        case .endMissing: return .endMissing
        case .damaged(let damage) where damage.intactShare >= repairShareMin:
            return .damage(MediaDamage(intactShare: damage.intactShare))
        case .damaged(let damage): throw corrupt(damage)
        case .unreadable: throw corrupt("libjpeg cannot decode it")
        }
    }

    static func corrupt(_ damage: JPEGDamageError) -> AttachPrepError {
        corrupt("intact share \(damage.intactShare)")
    }

    static func corrupt(_ detail: String) -> AttachPrepError {
        AttachPrepError(
            .mediaCorrupt, "The image is truncated or broken; check the file at its source.", detail: detail)
    }
}

/// Decodes the readable part of a damaged JPEG.
///
/// Inspection has decided that a repair is possible. Missing parts are gray, or whatever libjpeg fills in.
enum JPEGRepair {
    /// The decoded pixels, not yet upright; reduced where memory is short.
    static func repairedImage(source: CInt, deadline: ContinuousClock.Instant) throws -> (
        frame: DecodedFrame, defect: StillValidator.JPEGDefect
    ) {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        guard let defect = try StillValidator.defect(ofJPEG: source) else {
            throw StillValidator.corrupt("repair of an intact image")
        }
        do {
            let decoder = try JPEGDecoder(descriptor: source)
            try ImageLimits.check(width: decoder.width, height: decoder.height)
            _ = try DecodingMemory.coefficientBytes(window)
            let recovered = try decoder.recoveredPixels(
                eighths: eighths(width: decoder.width, height: decoder.height))
            let orientation = try? JPEGSegments.parseHeader(window).exif.first.flatMap { $0?.orientation }
            let frame = DecodedFrame(
                width: recovered.width, height: recovered.height, bands: 3, bytes: recovered.pixels,
                orientation: orientation.flatMap(Orientation.init) ?? .upright)
            return (frame, defect)
        } catch let error as JPEGError {
            throw StillValidator.corrupt(error.operation)
        }
    }

    /// It is in memory twice while it is rotated, three bytes a pixel.
    private static func eighths(width: Int, height: Int) -> Int {
        JPEGDecoder.reductions.last { eighths in
            (width * eighths / 8 + 1) * (height * eighths / 8 + 1) * 6 <= Limits.imageMemoryBytesMax
        } ?? 1
    }
}
