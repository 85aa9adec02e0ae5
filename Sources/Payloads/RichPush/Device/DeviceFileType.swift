/// A file type that a phone attaches.
///
/// Apple documents eleven, `AttachmentType`; released versions of iOS have also taken those of ``observed``
/// (`docs/reference/apple-attachment-rules.md` 1.2). A server converts these, since nothing but observation supports
/// them. A phone attaches them when a payload that was not prepared names one: when iOS rejects the file, the next is
/// tried.
public struct DeviceFileType: Sendable, Hashable {
    /// The uniform type identifier, which iOS compares with its list exactly.
    public let uti: String
    /// The extension of the file name, without the dot.
    public let fileExtension: String
    /// How the notification shows the file.
    public let kind: MediaKind

    public init(_ type: AttachmentType) {
        uti = type.uti
        fileExtension = type.fileExtension
        kind = type.kind
    }

    /// The types that iOS has been seen to take, which Apple does not document.
    public static let observed = rows.map(\.type)

    /// The largest file that iOS accepts, in bytes.
    var bytesMax: Int { Limits.attachmentBytesMax(kind) }

    private static let rows: [(format: MediaFormat, type: DeviceFileType)] = [
        (.heic, DeviceFileType(.heic, uti: "public.heic", fileExtension: "heic")),
        (.caf, DeviceFileType(.caf, uti: "com.apple.coreaudio-format", fileExtension: "caf")),
        (.aifc, DeviceFileType(.aifc, uti: "public.aifc-audio", fileExtension: "aifc")),
        (.amr, DeviceFileType(.amr, uti: "org.3gpp.adaptive-multi-rate-audio", fileExtension: "amr")),
        (.quickTime, DeviceFileType(.quickTime, uti: "com.apple.quicktime-movie", fileExtension: "mov")),
        (.threeGPP, DeviceFileType(.threeGPP, uti: "public.3gpp", fileExtension: "3gp")),
        (.threeGPP2, DeviceFileType(.threeGPP2, uti: "public.3gpp2", fileExtension: "3g2")),
    ]

    private init(_ format: MediaFormat, uti: String, fileExtension: String) {
        self.uti = uti
        self.fileExtension = fileExtension
        kind = format.kind
    }

    private init?(_ format: MediaFormat?) {
        guard let row = Self.rows.first(where: { $0.format == format }) else { return nil }
        self = row.type
    }
}

extension DeviceFileType {
    /// Looks up a uniform type identifier exactly as iOS does.
    init?(uti: String) {
        guard let type = AttachmentType(uti: uti).map(Self.init) ?? Self.observed.first(where: { $0.uti == uti })
        else { return nil }
        self = type
    }

    /// Looks up a Content-Type, ignoring its parameters; nil when the type is not attachable.
    public init?(mimeType: String) {
        let essence = mimeType.prefix { $0 != ";" }.filter { !$0.isWhitespace }.lowercased()
        guard let type = AttachmentType(mimeType: essence).map(Self.init) ?? Self(MediaTypeNames.mimeTypes[essence])
        else { return nil }
        self = type
    }

    /// Looks up the extension of a file name or URL path; nil when there is none or it is not attachable.
    init?(name: String) {
        let format = FileName.fileExtension(of: name).flatMap { MediaTypeNames.extensions[$0] }
        guard let type = AttachmentType(name: name).map(Self.init) ?? Self(format) else { return nil }
        self = type
    }

    /// Detects the type from a file's first bytes, for files without a known type.
    ///
    /// - Parameter bytes: At least the first 12 bytes.
    public init?(beginning bytes: some Collection<UInt8>) {
        let tags = [bytes.prefix(4), bytes.dropFirst(4).prefix(4), bytes.dropFirst(8).prefix(4)]
            .map { String(decoding: $0, as: UTF8.self) }
        let format: MediaFormat? =
            switch (tags[0], tags[1], tags[2]) {
            case (_, "ftyp", "heic"), (_, "ftyp", "heix"): .heic
            case (_, "ftyp", "qt  "): .quickTime
            case ("caff", _, _): .caf
            default: nil
            }
        guard let type = AttachmentType(beginning: bytes).map(Self.init) ?? Self(format) else { return nil }
        self = type
    }
}
