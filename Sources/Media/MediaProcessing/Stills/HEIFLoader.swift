import AttachPrepModel
import MediaLibraries
import MediaTypes
import SafeArithmetic

/// Opens a HEIF that is not plain with libvips and libheif.
enum HEIFLoader {
    /// - Throws: `media.unsupported` for a complete file that libheif cannot read, `VipsError` for another.
    static func open(_ source: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: source, noun: "HEIF", deadline: deadline)
        try HEIFReferenceValidator.check(window)
        do {
            return try Image.open(descriptor: source)
        } catch let error as VipsError {
            if let relaxed = try? HEIFReferences.withoutMetadata(window),
                let image = try? Image.open(encoded: relaxed, isWhole: true)
            {
                return image
            }
            guard try isComplete(window) else { throw error }
            throw AttachPrepError(
                .mediaUnsupported, "The image uses features of HEIF that are not supported; send a JPEG.",
                detail: error.description)
        }
    }

    /// Whether the boxes describe an image whose parts all lie in the file.
    private static func isComplete(_ window: ByteWindow) throws -> Bool {
        guard let items = try? HEIFItems(window), items.kinds[items.primary] != nil else { return false }
        let parts = items.references["dimg"]?[items.primary] ?? [items.primary]
        return parts.allSatisfy { items.locations[$0]?.isEmpty == false }
    }

    /// Whether it has a track of images, beside or instead of the still.
    static func hasSequence(_ window: ByteWindow) throws -> Bool {
        // Data after the boxes does not matter here.
        (try? ISOBoxSearch.first("moov", in: 0..<window.size, window: window)) != nil
    }
}

/// References between the items of a HEIF that decide nothing about its pixels: those of metadata, and those of
/// auxiliary images to more than one image. libheif before 1.18 rejects files with them, as iOS 18 writes them.
///
/// Source: ISO/IEC 14496-12, 8.11.12.
enum HEIFReferences {
    /// The types of items that are images for libheif.
    private static let images: Set<String> = ["hvc1", "av01", "grid", "iden", "iovl"]

    /// A copy of the file in which they have a type that has no meaning; nil where there are none, or the file is too
    /// large to be held.
    static func withoutMetadata(_ window: ByteWindow) throws -> [UInt8]? {
        guard window.size <= Limits.heifCopyBytesMax else { return nil }
        var types: [Int] = []
        guard let items = try HEIFItems(window) else { return nil }
        guard let meta = try ISOBoxSearch.first("meta", in: 0..<window.size, window: window), meta.count > 4 else {
            return nil
        }
        for references in try ISOBoxSearch.all("iref", in: meta.dropFirst(4), window: window) where references.count > 4
        {
            let width = try window.byte(at: references.lowerBound) == 0 ? 2 : 4
            try ISOBoxSearch.parse(references.dropFirst(4), in: window) { type, content in
                guard content.count >= width + 2 else { return true }
                let count = try window.bigEndian(at: content.lowerBound + width, bytes: 2)
                let target = count == 1 ? try window.bigEndian(at: content.upperBound - width, bytes: width) : nil
                let isImage = target.flatMap { items.kinds[$0] }.map { images.contains($0.type) } ?? false
                if type == "cdsc" || type == "auxl" && !isImage { types.append(content.lowerBound - 4) }
                return true
            }
        }
        guard !types.isEmpty else { return nil }
        var bytes = try window.all(in: 0..<window.size)
        for offset in types { bytes.replaceSubrange(offset..<offset + 4, with: Array("free".utf8)) }
        return bytes
    }
}

extension Limits {
    /// Bytes of a HEIF that is copied to be read by libheif: phones write up to 15 MB.
    static let heifCopyBytesMax = 50_000_000
}
