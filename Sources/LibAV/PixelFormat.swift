import CLibAV

/// How a picture's components lie in memory.
package struct PixelFormat: Sendable, Hashable {
    /// libavutil's name: `yuv420p`, `yuv420p10le`…
    package let name: String
    /// Bits of the widest component.
    package let bitDepth: Int
    /// Whether chroma is stored at half width and half height.
    package let isChroma420: Bool
    /// How many samples of luma stand for one of chroma, where each component has a plane of its own, nothing is alpha
    /// and JPEG knows that chroma; 1 for a picture without chroma.
    package let chroma: Chroma?
    /// Whether luma is all there is.
    package let isGrey: Bool
    /// Whether one of the components is alpha; a palette's is not counted, movies leave it opaque.
    package let hasAlpha: Bool
    /// Whether the components are red, green and blue (or indexes of such), not luma and chroma.
    package let isRGB: Bool

    package struct Chroma: Sendable, Hashable {
        package let across: Int
        package let down: Int
    }

    init?(_ format: AVPixelFormat) {
        guard let descriptor = unsafe av_pix_fmt_desc_get(format)?.pointee, let name = unsafe descriptor.name else {
            return nil
        }
        let components = unsafe [
            descriptor.comp.0.depth, descriptor.comp.1.depth, descriptor.comp.2.depth, descriptor.comp.3.depth,
        ]
        let flags = unsafe descriptor.flags
        let planar = UInt64(clamping: AV_PIX_FMT_FLAG_PLANAR)
        let isPlain = flags & ~planar == 0
        let count = unsafe descriptor.nb_components
        isGrey = isPlain && count == 1
        let isInPlanes = isPlain && flags & planar != 0 && count == 3
        let (across, down) = unsafe (descriptor.log2_chroma_w, descriptor.log2_chroma_h)
        chroma =
            isGrey
            ? Chroma(across: 1, down: 1)
            : isInPlanes && across <= 1 && down <= across
                ? Chroma(across: across == 0 ? 1 : 2, down: down == 0 ? 1 : 2) : nil
        self.name = unsafe String(cString: name)
        bitDepth = Int(clamping: components.prefix(Int(clamping: unsafe descriptor.nb_components)).max() ?? 8)
        isRGB = flags & UInt64(clamping: AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL) != 0
        isChroma420 =
            unsafe descriptor.log2_chroma_w == 1 && descriptor.log2_chroma_h == 1 && descriptor.nb_components >= 3
        hasAlpha =
            flags & UInt64(clamping: AV_PIX_FMT_FLAG_ALPHA) != 0 && flags & UInt64(clamping: AV_PIX_FMT_FLAG_PAL) == 0
    }
}
