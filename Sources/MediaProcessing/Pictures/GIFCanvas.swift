/// The canvas a GIF is drawn on, which libvips does not always tell.
///
/// libnsgif takes a canvas of 640 x 480, 800 x 600 and other screen sizes, and any wider than 2,048 pixels, for a
/// mistake of the writer, and gives the area its frames cover instead. Browsers and iOS believe the file.
struct GIFCanvas: Hashable {
    let width: Int
    let height: Int

    /// A canvas without a size is as large as what is drawn on it.
    init(_ walk: GIFWalk, decodedWidth: Int, decodedHeight: Int) {
        width = walk.width > 0 ? walk.width : decodedWidth
        height = walk.height > 0 ? walk.height : decodedHeight
    }
}
