import MediaEngine
import RichPush

extension AttachmentRequest {
    /// The request for one piece of a payload's media: what the payload says of it, else what is asked for all.
    ///
    /// - Parameter number: its place among several, from 0; nil for the only one, which may have the caller's id.
    func asking(for source: String, of item: PayloadMediaItem, number: Int?) -> AttachmentRequest {
        var request = self
        request.source = source
        if let id, let number { request.id = "\(id)-\(number)" }
        if let rect = item.options.clippingRect { request.options.crop = .part(rect) }
        if let time = item.options.thumbnailTime { request.options.thumbnailTime = .at(time) }
        if let isHidden = item.options.thumbnailHidden { request.options.thumbnailHidden = isHidden }
        return request
    }
}
