/// Data that libjpeg-turbo had to invent while it decoded a JPEG: its Huffman or arithmetic code breaks off or has bits
/// that are no code, a restart marker is lost, or the end is missing.
package struct JPEGDamage: Error, Sendable, Hashable {
    /// The part of the rows of MCUs in front of such places, 0 to 1. A restart marker ends what is lost; without any,
    /// all that follows is. Of a progressive picture the scans count that show at once what is missing: the first of
    /// each component, and luma's first beyond the means of its blocks.
    package let intactShare: Double

    package init(intactShare: Double) { self.intactShare = intactShare }
}

/// What reading all of a JPEG's coded data finds.
///
/// The verdict is libjpeg-turbo's with every code looked at, whatever is made of the picture afterwards. What it only
/// warns of and goes on with, as bytes in front of a marker, is intact: phones show it.
package enum JPEGValidation: Sendable, Hashable {
    case intact
    case damaged(JPEGDamage)
    /// libjpeg-turbo gives up on it.
    case unreadable

    /// Reads all of the file, and keeps nothing of it.
    ///
    /// `BaselineDecoder` reads the commonest kind several times as fast; what it accepts libjpeg accepts as well, and
    /// what it does not accept libjpeg is asked about.
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
