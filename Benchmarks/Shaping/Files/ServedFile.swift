import Foundation
import RichPush

/// A file that is open to be served; closed with its last holder.
final class ServedFile: Sendable {
    let bytes: Int
    let tag: String
    let mimeType: String
    private let handle: FileHandle

    /// - Returns: nil when it is no regular file that can be read. Blocks.
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
        // Nothing is lost: it was only read.
        try? handle.close()
    }

    /// What stands there, at most so many bytes; empty at the end. Blocks.
    ///
    /// Only one caller at a time: the place is the descriptor's.
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
