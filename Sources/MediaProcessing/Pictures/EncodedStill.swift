import RichPush
import Vips

/// A still as the bytes of its file.
struct EncodedStill {
    let type: AttachmentType
    let bytes: [UInt8]
    let width: Int
    let height: Int

    init(_ type: AttachmentType, _ bytes: [UInt8], of picture: Picture) {
        self.type = type
        self.bytes = bytes
        (width, height) = (picture.width, picture.height)
    }
}
