import AttachPrepModel
import Glibc
import Linux
import MediaTypes
import SafeArithmetic

enum SourceLocation: Sendable, Hashable {
    /// An http or https URL as given; the download validates it.
    case remote(String)
    /// A path on this machine.
    case file(String)

    /// The name to show in messages for a local file that replaces another source, such as an upload: never its path.
    func shown(for request: AttachmentRequest) -> String? {
        guard case .file(let path) = self, path != request.source, !request.source.hasPrefix("file:") else {
            return nil
        }
        return request.source
    }

    /// Parses a source as entered by a user. Pure.
    ///
    /// - Parameter allowsFiles: Whether local paths and file URLs are accepted: only on the command line.
    /// - Throws: `source.invalid_url` or `source.scheme_not_allowed`.
    init(_ source: String, allowsFiles: Bool) throws {
        guard !source.isEmpty else {
            throw AttachPrepError(.sourceInvalidURL, "The source is empty; give a URL or a path.")
        }
        switch Self.scheme(of: source) {
        case "http", "https": self = .remote(source)
        case "file" where allowsFiles: self = .file(try Self.path(ofFileURL: source))
        case let scheme?: throw Self.notAllowed(scheme)
        case nil where allowsFiles: self = .file(source)
        case nil:
            throw AttachPrepError(
                .sourceInvalidURL, "The source has no scheme; give a URL that begins with https:// or http://.")
        }
    }

    private static func notAllowed(_ scheme: String) -> AttachPrepError {
        AttachPrepError(
            .sourceSchemeNotAllowed, "The scheme \(scheme) is not allowed; give an http or https URL.")
    }

    /// The scheme (RFC 3986, section 3.1) in lowercase; one letter and a colon is a drive, not a scheme.
    private static func scheme(of source: String) -> String? {
        guard let colon = source.firstIndex(of: ":") else { return nil }
        let scheme = source[..<colon]
        let isScheme =
            scheme.count > 1 && scheme.first?.isLetter == true
            && scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return isScheme && (source[colon...].hasPrefix("://") || opaque.contains(scheme.lowercased()))
            ? scheme.lowercased() : nil
    }

    /// Schemes without `//`, which would otherwise be taken for file names.
    private static let opaque: Set<String> = ["file", "data", "javascript", "mailto", "about", "blob"]

    /// The path of a file URL (RFC 8089): `file:///path`, `file:/path` or `file://localhost/path`, percent-encoded.
    private static func path(ofFileURL source: String) throws -> String {
        var rest = source.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            let host = rest.dropFirst(2).prefix { $0 != "/" }
            guard host.isEmpty || host == "localhost" else {
                throw AttachPrepError(
                    .sourceInvalidURL, "The file URL names a remote host; give file:///path or a plain path.")
            }
            rest = rest.dropFirst(2 + host.count)
        }
        guard let path = PercentEncoding.decoded(rest), path.hasPrefix("/"), !path.contains("\0") else {
            throw AttachPrepError(.sourceInvalidURL, "The file URL has no absolute path; give file:///path.")
        }
        return path
    }
}

/// A source on this machine, open for reading.
final class LocalFile: Sendable {
    let descriptor: CInt
    let bytes: Int
    /// Size and modification time: a modified file is a different source.
    let state: String

    /// Opens a regular file.
    ///
    /// - Parameter shown: The name to show in messages; nil for the path.
    /// - Throws: `source.not_found`; `source.not_a_file` for a folder, a device or a pipe.
    init(path: String, shown: String? = nil) throws {
        // Without O_NONBLOCK, opening a named pipe would block until a writer opens it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw AttachPrepError(
                .sourceNotFound, "The file \(shown ?? path) could not be opened; check its name and permissions.",
                detail: unsafe String(cString: strerror(errno)))
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.notFile(shown ?? path, isFolder: status.st_mode & S_IFMT == S_IFDIR)
        }
        self.descriptor = descriptor
        bytes = Int(clamping: status.st_size)
        state = "\(status.st_size) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }

    deinit {
        close(descriptor)
    }

    private static func notFile(_ name: String, isFolder: Bool) -> AttachPrepError {
        AttachPrepError(
            .sourceNotFile,
            isFolder
                ? "\(name) is a folder; name its files, or list them for attachprep batch: find FOLDER -type f | "
                    + "attachprep batch -"
                : "\(name) is a device or a pipe; give a file or a URL.")
    }

    /// Copies the file to `target` and returns its SHA-256. Blocks for as long as the copy takes.
    ///
    /// - Throws: `deadline.exceeded` when the deadline passes during the copy.
    func copy(to target: CInt, deadline: ContinuousClock.Instant) throws -> String {
        do {
            return try HashedCopy(of: descriptor, to: target) {
                guard ContinuousClock.now < deadline else { throw AttachPrepError.deadlinePassed(at: "fetching") }
            }.sha256
        } catch let error as FileIOError {
            throw AttachPrepError(
                .sourceNotFound, "The file could not be read.", detail: unsafe String(cString: strerror(error.code)))
        }
    }
}
