/// The quick way to a small picture of a JPEG of the commonest kind; libjpeg-turbo knows all the others.
package enum BaselineDecoder {
    /// How far it reduces, in eighths: where most of a picture's coefficients need not be looked at.
    package static let reductions = 1...2

    /// Whether all of a file's coded data is as it should be; false for another kind of JPEG too.
    ///
    /// It is at least as strict as libjpeg-turbo, whose header reading must have succeeded.
    package static func isIntact(descriptor: CInt) -> Bool { planes(descriptor: descriptor, eighths: 1) != nil }

    /// Decodes to EOI, to one or two eighths of the size: luma first, chroma at the size it is stored at.
    ///
    /// - Parameter waitForMore: Asked at the end of the file: whether there is more of it now. Its headers are there.
    /// - Returns: Nil for another kind of JPEG, and for one with any fault.
    package static func planes(
        descriptor: CInt, eighths: Int, waitForMore: @escaping () -> Bool = { false }
    ) -> [JPEGPlane]? {
        precondition(reductions.contains(eighths), "asked for what it can reduce")
        guard let frame = BaselineHeader.read(descriptor: descriptor) else { return nil }
        var scan = BaselineScan(frame, descriptor: descriptor, eighths: eighths, waitForMore: waitForMore)
        return try? scan.decode()
    }
}
