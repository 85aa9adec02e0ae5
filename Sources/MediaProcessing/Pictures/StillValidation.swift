import JPEG
import MediaEngine
import PNG
import RichPush

/// Whether the coded data of a still is all there: the one verdict on a file, whichever decoder makes what of it.
///
/// What is drawn from a file while it is decoded (a thumbnail of a JPEG, reduced on the way) is validated by that;
/// every other way to its pixels asks here first. Both ask the same reader of the format, so that the verdict depends
/// neither on the size of a thumbnail nor on the way it is made.
enum StillValidation {
    /// The part of a JPEG's rows of MCUs that has to be intact for a repair. More than a movie or a sound needs: what
    /// is missing of those comes last, while a still shows its gaps for as long as it is seen.
    static let repairShareMin = 0.75

    /// Refuses a still in whose coded data anything is wrong, for what shows it as it is.
    ///
    /// - Throws: `media.corrupt`.
    static func requireIntact(_ format: MediaFormat, source: CInt) throws {
        switch format {
        case .jpeg: try requireIntactJPEG(source)
        case .png: try requireIntactPNG(source)
        default: break
        }
    }

    private static func requireIntactJPEG(_ source: CInt) throws {
        switch JPEGValidation(descriptor: source) {
        case .intact: break
        case .damaged(let damage): throw corrupt(damage)
        case .unreadable: throw corrupt("libjpeg gives up")
        }
    }

    private static func requireIntactPNG(_ source: CInt) throws {
        if case .damaged(let what) = PNGValidation(descriptor: source) { throw corrupt(what) }
    }

    /// How a JPEG is damaged; nil for an intact one.
    ///
    /// - Throws: `media.corrupt` for one that is not worth a repair.
    static func damage(ofJPEG source: CInt) throws -> MediaDamage? {
        switch JPEGValidation(descriptor: source) {
        case .intact: return nil
        case .damaged(let damage) where damage.intactShare >= repairShareMin:
            return MediaDamage(intactShare: damage.intactShare)
        case .damaged(let damage): throw corrupt(damage)
        case .unreadable: throw corrupt("libjpeg gives up")
        }
    }

    static func corrupt(_ damage: JPEGDamage) -> AttachPrepError {
        corrupt("intact share \(damage.intactShare)")
    }

    static func corrupt(_ detail: String) -> AttachPrepError {
        AttachPrepError(
            .mediaCorrupt, "The picture is truncated or broken; check the file at its source.", detail: detail)
    }
}

/// A damaged JPEG as far as it is there.
///
/// Inspection has found it worth a repair; of what is not there libjpeg makes something grey, or what it can.
enum DamagedJPEG {
    /// The picture, to be stood upright; reduced where memory is short.
    static func picture(source: CInt, deadline: ContinuousClock.Instant) throws -> DecodedPicture {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        guard try StillValidation.damage(ofJPEG: source) != nil else {
            throw StillValidation.corrupt("a repair of an intact picture")
        }
        do {
            let decoder = try JPEGDecoder(descriptor: source)
            try PictureLimits.check(width: decoder.width, height: decoder.height)
            _ = try StillMemory.coefficientBytes(window)
            let salvaged = try decoder.salvagedPixels(
                eighths: eighths(width: decoder.width, height: decoder.height))
            let orientation = try? JPEGSegments.walkHeader(window).exif.first.flatMap { $0?.orientation }
            return DecodedPicture(
                width: salvaged.width, height: salvaged.height, bands: 3, bytes: salvaged.pixels,
                orientation: orientation.flatMap(Orientation.init) ?? .upright)
        } catch let error as JPEGError {
            throw StillValidation.corrupt(error.operation)
        }
    }

    /// It is in memory twice while it is turned, three bytes a pixel.
    private static func eighths(width: Int, height: Int) -> Int {
        JPEGDecoder.reductions.last { eighths in
            // Bounded: sides have 16 bits.
            (width * eighths / 8 + 1) * (height * eighths / 8 + 1) * 6 <= Limits.pictureMemoryBytesMax
        } ?? 1
    }
}
