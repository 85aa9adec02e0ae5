#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a file is called before it is attached: iOS tells its type by the hint, and by the name where there is none.
extension FetchCandidate {
    /// The payload's word, else the server's: its Content-Type, the name it suggests, the address.
    public func type(in answer: FetchAnswer) -> AttachmentType? {
        declaredType
            ?? answer.contentType.flatMap(AttachmentType.init(mimeType:))
            ?? answer.suggestedName.flatMap(AttachmentType.init(name:))
            ?? answer.url.flatMap { AttachmentType(name: $0.path) }
            ?? addressType
    }

    /// By the address of the payload, which a redirect may have left behind.
    public var addressType: AttachmentType? {
        switch source {
        case .web(let url): AttachmentType(name: url.path)
        case .bundle(let name): AttachmentType(name: name)
        }
    }

    /// A name without folders, whose extension is that of the type.
    public func fileName(_ type: AttachmentType) -> String {
        let stem = role == .thumbnail ? "thumbnail" : "attachment"
        return "\(stem).\(type.fileExtension)"
    }
}
