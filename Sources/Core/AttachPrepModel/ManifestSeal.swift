public import MediaTypes

/// How the files of a result are sealed (`docs/reference/sealed.md`).
public struct ManifestSeal: Codable, Sendable, Hashable {
    /// The version of the format.
    public var version: Int
    /// Opens all files of this result. Left out where the result is shown again: it is given once.
    public var secret: SealedSecret?

    public init(version: Int, secret: SealedSecret) {
        (self.version, self.secret) = (version, secret)
    }
}

/// The content of a sealed file.
public struct SealedContent: Codable, Sendable, Hashable {
    public var mimeType: String
    public var bytes: Int

    public init(mimeType: String, bytes: Int) {
        (self.mimeType, self.bytes) = (mimeType, bytes)
    }
}

extension Manifest {
    /// The same without the secret, for everything but the result itself: databases, lists, reports.
    package var withoutSecret: Manifest {
        guard sealed?.secret != nil else { return self }
        var manifest = self
        manifest.sealed?.secret = nil
        return manifest
    }
}
