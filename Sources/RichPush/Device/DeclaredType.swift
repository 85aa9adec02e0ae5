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
        guard let type = Self.allCases.first(where: { $0.mimeType == essence }) ?? Self.otherMIMETypes[essence] else {
            return nil
        }
        self = type
    }

    /// By the end of a file's name, without the dot.
    init?(fileExtension: String) {
        let spelling = fileExtension.lowercased()
        guard
            let type = Self.allCases.first(where: { $0.fileExtension == spelling }) ?? Self.otherExtensions[spelling]
        else { return nil }
        self = type
    }

    /// By a file's name or an address's path; nil for a name without an extension.
    init?(name: String) {
        let file = name.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: "."), dot != file.startIndex else { return nil }
        self.init(fileExtension: String(file[file.index(after: dot)...]))
    }

    /// What servers send in place of the registered names.
    private static let otherMIMETypes: [String: AttachmentType] = [
        "image/jpg": .jpeg, "image/pjpeg": .jpeg, "image/x-png": .png, "image/apng": .png,
        "audio/x-aiff": .aiff, "audio/aif": .aiff,
        "audio/x-wav": .wave, "audio/wave": .wave, "audio/vnd.wave": .wave,
        "audio/mp3": .mp3, "audio/x-mp3": .mp3, "audio/mpeg3": .mp3, "audio/x-mpeg": .mp3,
        "audio/m4a": .mpeg4Audio, "audio/x-m4a": .mpeg4Audio, "audio/mp4a-latm": .mpeg4Audio,
        "video/x-mpeg": .mpeg, "video/mpg": .mpeg, "video/mpeg2": .mpeg2Video,
        "video/x-m4v": .mpeg4, "video/avi": .avi, "video/msvideo": .avi, "video/vnd.avi": .avi,
    ]

    /// What people write in place of the extensions that we write.
    private static let otherExtensions: [String: AttachmentType] = [
        "jpeg": .jpeg, "jpe": .jpeg, "jfif": .jpeg, "apng": .png, "aif": .aiff, "wave": .wave, "mpeg": .mpeg,
        "mpe": .mpeg, "m2p": .mpeg, "mpv": .mpeg2Video, "mp4v": .mpeg4, "m4v": .mpeg4,
    ]
}
