/// From what somebody says of a file to one of Apple's eleven types.
extension AttachmentType {
    /// By one of the eleven identifiers, exactly as iOS compares them.
    init?(uti: String) {
        guard let type = Self.allCases.first(where: { $0.uti == uti }) else { return nil }
        self = type
    }

    /// By a Content-Type, whatever parameters it has; nil for what is not attachable.
    init?(mimeType: String) {
        let essence = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        self.init(TypeNames.mimeTypes[essence])
    }

    /// By a file's name or an address's path; nil for a name without an extension.
    init?(name: String) {
        guard let ending = MediaAddress.fileExtension(of: name), !TypeNames.onlyWords.contains(ending) else {
            return nil
        }
        self.init(TypeNames.extensions[ending])
    }

    private init?(_ format: MediaFormat?) {
        // M4V is Apple's own name for an MP4, and the one of the two that is not documented as attachable.
        guard let type = format == .m4v ? .mpeg4 : format?.attachmentType else { return nil }
        self = type
    }
}
