/// Damage in a JPEG: an invalid or truncated Huffman or arithmetic code, coefficients that no encoder writes, image
/// data that is left over, a missing restart marker, or a missing end.
package struct JPEGDamageError: Error, Sendable, Hashable {
    /// The share of the image that is shown as it was, 0 to 1; 0 where it is unknown. A restart marker ends the damage;
    /// without one, all that follows is lost. In a progressive image that was cut off only those scans count whose loss
    /// is visible at once: the first of each component, and luma's first scan of AC coefficients.
    package let intactShare: Double

    package init(intactShare: Double) { self.intactShare = intactShare }
}

/// The result of reading all coded data of a JPEG.
///
/// The verdict is the same however the image is decoded afterwards. Anomalies that lose no image data, such as padding
/// before a marker, count as intact: phones display such files.
package enum JPEGValidation: Sendable, Hashable {
    case intact
    /// All of the image is there, but not the end marker.
    case endMissing
    case damaged(JPEGDamageError)
    /// libjpeg-turbo cannot decode it.
    case unreadable

    /// Reads the whole file and discards the samples: the most common kind with `BaselineDecoder`, which finds more and
    /// is several times as fast, all others with libjpeg-turbo, every Huffman code checked.
    package init(descriptor: CInt) {
        guard let decoder = try? JPEGDecoder(descriptor: descriptor), decoder.hasWholeFactors else {
            self = .unreadable
            return
        }
        switch BaselineDecoder.read(descriptor: descriptor, eighths: 1) {
        case .planes: self = .intact
        case .endMissing where !decoder.endsInZeros: self = .endMissing
        case .endMissing, .damaged:
            let share = decoder.endsInZeros ? 0 : BaselineDecoder.intactShare(descriptor: descriptor)
            self = .damaged(JPEGDamageError(intactShare: share))
        case .unsupported: self = (try? decoder.readThrough()) ?? .unreadable
        }
    }
}
