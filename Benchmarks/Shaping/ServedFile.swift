import Foundation
import MediaTypes

/// An open file to serve; closed when the last reference is released.
final class ServedFile: Sendable {
    let bytes: Int
    let tag: String
    let mimeType: String
    private let handle: FileHandle

    /// Opens a file; nil unless it is a readable regular file. Blocks.
    init?(path: String) {
        guard let handle = FileHandle(forReadingAtPath: path),
            let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular, let size = attributes[.size] as? Int
        else { return nil }
        let changed = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        self.handle = handle
        bytes = size
        tag = "\"\(String(size, radix: 16))-\(String(Int(changed * 1_000_000), radix: 16))\""
        mimeType = Self.mimeType(of: (path as NSString).pathExtension.lowercased())
    }

    deinit {
        // The file was only read, so a failed close loses nothing.
        try? handle.close()
    }

    /// Reads at most `bytes` bytes at an offset; empty at the end of the file. Blocks.
    ///
    /// Not safe for concurrent calls, which share the descriptor's offset.
    func piece(at offset: Int, bytes: Int) throws -> Data {
        try handle.seek(toOffset: UInt64(offset))
        return try handle.read(upToCount: bytes) ?? Data()
    }

    private static func mimeType(of fileExtension: String) -> String {
        if let type = AttachmentType.allCases.first(where: { $0.fileExtension == fileExtension }) {
            return type.mimeType
        }
        return otherTypes[fileExtension] ?? "application/octet-stream"
    }

    private static let otherTypes = [
        "jpeg": MediaFormat.jpeg.mimeType, "webp": MediaFormat.webp.mimeType, "heic": MediaFormat.heic.mimeType,
        "avif": MediaFormat.avif.mimeType, "tiff": MediaFormat.tiff.mimeType, "bmp": MediaFormat.bmp.mimeType,
        "svg": MediaFormat.svg.mimeType, "aif": AttachmentType.aiff.mimeType, "flac": MediaFormat.flac.mimeType,
        "ogg": MediaFormat.vorbis.mimeType, "opus": MediaFormat.opus.mimeType, "caf": MediaFormat.caf.mimeType,
        "aac": MediaFormat.aac.mimeType, "mov": MediaFormat.quickTime.mimeType, "m4v": MediaFormat.m4v.mimeType,
        "3gp": MediaFormat.threeGPP.mimeType, "webm": MediaFormat.webm.mimeType,
        "mkv": MediaFormat.matroska.mimeType, "ts": MediaFormat.mpegTransportStream.mimeType,
        "mpeg": AttachmentType.mpeg.mimeType, "html": "text/html; charset=utf-8", "json": "application/json",
        "txt": "text/plain; charset=utf-8",
    ]
}

/// The files of a folder, by the path of a URL.
public struct ServedFolder: Sendable {
    /// The path with symbolic links resolved.
    private let root: String

    /// Nil when the path is not a folder.
    public init?(_ path: String) {
        let root = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: root)
        guard attributes?[.type] as? FileAttributeType == .typeDirectory else { return nil }
        self.root = root
    }

    /// Opens the file of a request target; nil when it does not exist or is outside the folder. Blocks.
    func file(at target: String) -> ServedFile? {
        let path = target.prefix { $0 != "?" && $0 != "#" }
        guard path.hasPrefix("/"), let name = String(path).removingPercentEncoding, !name.utf8.contains(0),
            !name.split(separator: "/").contains("..")
        else { return nil }
        let file = URL(fileURLWithPath: root + name).resolvingSymlinksInPath().path
        return file.hasPrefix(root + "/") ? ServedFile(path: file) : nil
    }
}
