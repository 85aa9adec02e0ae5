import CVips
import Glibc

/// An open file as libvips reads it; owns a VipsSource.
///
/// C: `vips_source_new_from_descriptor`, which works on a duplicate and leaves the caller's descriptor open.
@safe final class PictureSource {
    let pointer: UnsafeMutablePointer<VipsSource>

    /// The duplicate shares its offset with the original, so reading starts at the front.
    init(descriptor: CInt) throws(VipsError) {
        guard lseek(descriptor, 0, SEEK_SET) == 0, let source = unsafe vips_source_new_from_descriptor(descriptor)
        else { throw VipsError("source") }
        unsafe pointer = source
    }

    deinit {
        unsafe CVips_unref_source(pointer)
    }
}
