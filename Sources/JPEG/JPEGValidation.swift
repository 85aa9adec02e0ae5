/// Damage in a JPEG for which libjpeg-turbo had to fill in data: an invalid or truncated Huffman or arithmetic code, a
/// missing restart marker, or a missing end.
package struct JPEGDamageError: Error, Sendable, Hashable {
    /// The share of MCU rows that are not affected, 0 to 1. A restart marker ends the damage; without one, all that
    /// follows is lost. In a progressive image only those scans count whose loss is visible at once: the first of each
    /// component, and luma's first scan of AC coefficients.
    package let intactShare: Double

    package init(intactShare: Double) { self.intactShare = intactShare }
}

/// The result of reading all coded data of a JPEG.
///
/// The verdict is libjpeg-turbo's with every Huffman code checked, regardless of how the image is decoded afterwards.
/// Anomalies that lose no image data, such as extra bytes before a marker, count as intact: phones display such files.
package enum JPEGValidation: Sendable, Hashable {
    case intact
    case damaged(JPEGDamageError)
    /// libjpeg-turbo cannot decode it.
    case unreadable

    /// Reads the whole file and discards the samples.
    ///
    /// `BaselineDecoder` reads the most common kind several times as fast. Whatever it accepts, libjpeg accepts too;
    /// whatever it rejects is checked again with libjpeg.
    package init(descriptor: CInt) {
        guard let decoder = try? JPEGDecoder(descriptor: descriptor), decoder.hasWholeFactors else {
            self = .unreadable
            return
        }
        guard !BaselineDecoder.isIntact(descriptor: descriptor) else {
            self = .intact
            return
        }
        do {
            self = try decoder.readThrough().map(JPEGValidation.damaged) ?? .intact
        } catch {
            self = .unreadable
        }
    }
}
