import JPEG
import MediaEngine
import RichPush
import Vips

/// The thumbnail of a plain JPEG, made of its components as they are stored: no colour is converted on the way, and
/// nothing is larger than it has to be.
///
/// All of the file is read, so one that is cut is found out as well.
struct ReducedJPEG {
    private let jpeg: PlainJPEG
    private let decoder: JPEGDecoder
    private let source: CInt
    private let deadline: ContinuousClock.Instant

    /// Nil for what is no plain JPEG, or cannot be read so.
    init?(source: CInt, deadline: ContinuousClock.Instant) throws {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        guard let header = try? JPEGSegments.walkHeader(window), let jpeg = PlainJPEG(header) else { return nil }
        try jpeg.check()
        guard let decoder = try? JPEGDecoder(descriptor: source), decoder.isLumaAndChroma, decoder.hasWholeFactors,
            decoder.width == header.width, decoder.height == header.height
        else { return nil }
        (self.jpeg, self.decoder, self.source, self.deadline) = (jpeg, decoder, source, deadline)
    }

    /// What the numbers of its components mean.
    enum Colours {
        case sRGB
        case display(DisplayProfile)
        /// What colour management has to convert, by this profile.
        case managed([UInt8])
    }

    /// The thumbnail for a box; nil when the file cannot be read to its end this way, which says nothing of the file.
    ///
    /// - Parameters:
    ///   - colours: What `colours()` said; what has to be managed is left as it is.
    ///   - arrival: Where the file is still written to.
    /// - Throws: `media.corrupt` when data had to be invented.
    func thumbnail(in box: ThumbnailRendition, _ colours: Colours, _ arrival: Arrival? = nil) throws -> ReducedPicture?
    {
        let geometry = ThumbnailGeometry(pictureWidth: jpeg.width, pictureHeight: jpeg.height, box: box)
        let swaps = jpeg.orientation.swapsSides
        let stored = swaps ? (geometry.height, geometry.width) : (geometry.width, geometry.height)
        let eighths = JPEGReduction.eighths(
            width: jpeg.segments.width, height: jpeg.segments.height, target: (width: stored.0, height: stored.1))
        // Bounded: sides have 16 bits.
        let pixels = jpeg.segments.width * eighths / 8 * (jpeg.segments.height * eighths / 8)
        guard pixels <= PlaneReduction.pixelsMax, let planes = try planes(eighths: eighths, arrival) else { return nil }
        var reduction = PlaneReduction(width: stored.0, height: stored.1)
        let columns = planes.map { reduction.columns(of: $0) }
        return ReducedPicture(
            columns: Self.inSRGB(columns, height: stored.1, colours),
            storedWidth: stored.0, storedHeight: stored.1, orientation: jpeg.orientation, cut: geometry.kept)
    }

    /// Columns one behind the other are the rows of a picture that lies on its side.
    private static func inSRGB(_ columns: [[UInt8]], height: Int, _ colours: Colours) -> [[UInt8]] {
        guard case .display(let profile) = colours, columns.count == 3 else { return columns }
        // Bounded: a picture has pixels.
        let planes = columns.map { JPEGPlane(width: height, height: $0.count / height, samples: $0) }
        return ColourTurn(from: .jpeg, profile: profile).apply(planes).map(\.samples)
    }

    private func planes(eighths: Int, _ arrival: Arrival?) throws -> [JPEGPlane]? {
        if BaselineDecoder.reductions.contains(eighths) {
            if let planes = BaselineDecoder.planes(
                descriptor: source, eighths: eighths, waitForMore: { arrival?.waitForMore() ?? false })
            {
                return planes
            }
        }
        // libjpeg would take the end of what is there for the end of the picture.
        if arrival != nil { return nil }
        do {
            // Of a progressive picture it looks at every code anyway.
            return try decoder.planes(eighths: eighths, isCareful: !jpeg.segments.isProgressive)
        } catch let damage as JPEGDamage {
            throw StillValidation.corrupt(damage)
        } catch {
            return nil
        }
    }

    /// Those of a profile whose parts do not make one, which is then as good as none, are sRGB's.
    func colours() throws -> Colours {
        guard !jpeg.segments.profile.isEmpty, let profile = try colourProfile(), !ICCProfile.isSRGB(profile) else {
            return .sRGB
        }
        if jpeg.segments.components == 3, let display = DisplayProfile(profile) { return .display(display) }
        return .managed(profile)
    }

    private func colourProfile() throws -> [UInt8]? {
        let window = try ByteWindow(descriptor: source, noun: "JPEG", deadline: deadline)
        let parts = jpeg.segments.profile
        guard parts.count <= ICCProfile.partsMax else { return nil }
        // A segment is up to two bytes longer than the window.
        return try ICCProfile.joined(parts.map { try window.all(in: $0) })
    }
}
