public import RichPush

extension Manifest {
    /// The same manifest whose files have addresses below that one; without it, or without media, they have none. Files
    /// that were published elsewhere have theirs, and keep them.
    public func located(_ media: MediaID?, at baseURL: String?) -> Manifest {
        if attachment?.url != nil { return self }
        var manifest = self
        let url = { (file: String) -> String? in
            guard let media, let baseURL else { return nil }
            let base = baseURL.hasSuffix("/") ? String(baseURL.dropLast()) : baseURL
            return "\(base)/media/\(media)/\(file)"
        }
        if let attachment { manifest.attachment?.url = url(attachment.file) }
        if let thumbnail { manifest.thumbnail?.url = url(thumbnail.file) }
        if let crop { manifest.crop?.url = url(crop.file) }
        return manifest
    }
}
