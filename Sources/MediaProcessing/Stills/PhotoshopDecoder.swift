import AttachPrepModel
import RichPush
import SafeArithmetic
import Vips

/// Decodes the flattened image that a Photoshop document (PSD, PSB) holds beside its layers.
package enum PhotoshopDecoder {
    /// - Throws: `media.corrupt` when the document is truncated or broken, `media.unsupported` for a color mode or
    ///   depth that is not read and for a document without a flattened image, `media.too_many_pixels`,
    ///   `deadline.exceeded`.
    static func image(descriptor: CInt, deadline: ContinuousClock.Instant) throws -> Image {
        let window = try ByteWindow(descriptor: descriptor, noun: "Photoshop document", deadline: deadline)
        let document = try PhotoshopDocument(window)
        let wrapped = try Image.wrap(
            pixels: document.pixels(window), width: document.width, height: document.height, bands: document.bands,
            orientation: 1, colorProfile: document.profile.map { try window.all(in: $0) },
            isCMYK: document.mode == .cmyk)
        return try wrapped.inSRGB().inMemory()
    }
}

/// The sections of a Photoshop document, without its layers.
///
/// Source: Adobe, "Photoshop File Formats Specification" (2019), "Photoshop File Format".
package struct PhotoshopDocument: Sendable, Hashable {
    package enum Mode: Int, Sendable {
        case bitmap = 0, gray = 1, indexed = 2, rgb = 3, cmyk = 4
        /// Stored as gray, whose inks are described elsewhere.
        case duotone = 8

        /// The bits of a sample that are read.
        var depths: Set<Int> {
            switch self {
            case .bitmap: [1]
            case .indexed: [8]
            default: [8, 16]
            }
        }

        var colors: Int {
            switch self {
            case .rgb, .indexed: 3
            case .cmyk: 4
            case .bitmap, .gray, .duotone: 1
            }
        }
    }

    package let width: Int
    package let height: Int
    package let mode: Mode
    /// Whether the first channel after the colors is the transparency of the flattened image.
    package private(set) var hasAlpha = false
    /// The byte range of the ICC profile.
    package private(set) var profile: Range<Int>?

    /// Bits of a sample: 1, 8 or 16.
    private let depth: Int
    private let channels: Int
    /// Whether it is a PSB, whose lengths have more bytes.
    private let isLarge: Bool
    /// The palette of an indexed image: 256 reds, greens and blues.
    private var palette: Range<Int>?
    /// Offset of the flattened image.
    private var start = 0
    private var isFlattened = true

    // Bounded throughout: lengths have four bytes, or eight in a PSB, and are compared with the file before they are
    // added (`section`); sides and channels are limited first.

    /// Bands of the decoded image: colors and alpha.
    package var bands: Int { mode.colors + (hasAlpha ? 1 : 0) }

    /// - Throws: `media.corrupt`, `media.unsupported`, `media.too_many_pixels`.
    package init(_ window: ByteWindow) throws {
        guard try window.characters(at: 0, count: 4) == "8BPS" else { throw window.broken("no signature") }
        let version = try window.bigEndian(at: 4, bytes: 2)
        guard version == 1 || version == 2 else { throw window.broken("version \(version)") }
        isLarge = version == 2
        channels = try window.bigEndian(at: 12, bytes: 2)
        height = try window.bigEndian(at: 14, bytes: 4)
        width = try window.bigEndian(at: 18, bytes: 4)
        depth = try window.bigEndian(at: 22, bytes: 2)
        let code = try window.bigEndian(at: 24, bytes: 2)
        guard let mode = Mode(rawValue: code), mode.depths.contains(depth) else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The Photoshop document has a color mode or depth that is not read; save it in RGB with 8 or 16 bits, "
                    + "or send a PNG.", detail: "mode \(code), \(depth) bits")
        }
        self.mode = mode
        try ImageLimits.check(width: width, height: height)
        let least = mode == .indexed ? 1 : mode.colors
        guard (least...Limits.photoshopChannelsMax).contains(channels) else {
            throw window.broken("\(channels) channels")
        }
        let colorData = try section(at: 26, lengthBytes: 4, window)
        if mode == .indexed {
            guard colorData.count >= 768 else { throw window.broken("no palette") }
            palette = colorData.prefix(768)
        }
        let resources = try section(at: colorData.upperBound, lengthBytes: 4, window)
        try readResources(resources, window)
        let layers = try section(at: resources.upperBound, lengthBytes: isLarge ? 8 : 4, window)
        // Layers that cannot be read do not matter.
        let isTransparent = (try? hasMergedTransparency(layers, window)) ?? false
        hasAlpha = mode != .indexed && channels > mode.colors && isTransparent
        start = layers.upperBound
        guard isFlattened else {
            throw AttachPrepError(
                .mediaUnsupported,
                "The Photoshop document has no flattened image; save it with maximum compatibility, or send a PNG.")
        }
        guard width * height * bands <= Limits.photoshopBytesMax else {
            throw AttachPrepError(
                .mediaTooManyPixels,
                "The Photoshop document is \(width) x \(height) pixels and takes \((width * height * bands).grouped) "
                    + "bytes to decode, over the limit of \(Limits.photoshopBytesMax.grouped); send a smaller one.")
        }
    }

    /// The content of a section that begins with its length.
    private func section(at offset: Int, lengthBytes: Int, _ window: ByteWindow) throws -> Range<Int> {
        let length = try window.bigEndian(at: offset, bytes: lengthBytes)
        let content = offset + lengthBytes
        guard length >= 0, length <= window.size - content else { throw window.cut }
        return content..<content + length
    }

    private mutating func readResources(_ resources: Range<Int>, _ window: ByteWindow) throws {
        var offset = resources.lowerBound
        for _ in 0..<Limits.photoshopResourcesMax where offset + 12 <= resources.upperBound {
            guard try window.characters(at: offset, count: 4) == "8BIM" else { return }
            let identifier = try window.bigEndian(at: offset + 4, bytes: 2)
            // The name's length, the name, and padding to an even number of bytes.
            let name = (try Int(window.byte(at: offset + 6)) + 2) & ~1
            let content = try section(at: offset + 6 + name, lengthBytes: 4, window)
            guard content.upperBound <= resources.upperBound else { throw window.broken("a resource's length") }
            switch identifier {
            case 1_039 where content.count <= Limits.photoshopProfileBytesMax: profile = content
            // A version, and whether the flattened image is real.
            case 1_057 where content.count >= 5: isFlattened = try window.byte(at: content.lowerBound + 4) != 0
            default: break
            }
            offset = content.upperBound + content.count % 2
        }
    }

    /// Whether the number of layers is negative, which marks the first channel after the colors as transparency.
    /// Documents of 16 bits have their layers in a block after the others.
    private func hasMergedTransparency(_ layers: Range<Int>, _ window: ByteWindow) throws -> Bool {
        guard layers.count >= (isLarge ? 10 : 6) else { return false }
        let info = try section(at: layers.lowerBound, lengthBytes: isLarge ? 8 : 4, window)
        if info.count >= 2 { return try window.byte(at: info.lowerBound) >= 0x80 }
        guard info.upperBound + 4 <= layers.upperBound else { return false }
        var offset = try section(at: info.upperBound, lengthBytes: 4, window).upperBound
        for _ in 0..<Limits.photoshopBlocksMax where offset + 14 <= layers.upperBound {
            guard try window.characters(at: offset, count: 2) == "8B" else { return false }
            let key = try window.characters(at: offset + 4, count: 4)
            let isWide = isLarge && Self.wideKeys.contains(key)
            let content = try section(at: offset + 8, lengthBytes: isWide ? 8 : 4, window)
            switch key {
            case "Lr16" where content.count >= 2: return try window.byte(at: content.lowerBound) >= 0x80
            case "Mtrn", "Mt16": return true
            default: offset = (content.upperBound + 3) & ~3
            }
        }
        return false
    }

    /// Blocks of a PSB with lengths of eight bytes.
    private static let wideKeys: Set<String> = [
        "LMsk", "Lr16", "Lr32", "Layr", "Mt16", "Mt32", "Mtrn", "Alph", "FMsk", "lnk2", "FEid", "FXid", "PxSD",
    ]
}

/// Decoding the flattened image: one channel after another, row by row.
extension PhotoshopDocument {
    // Bounded throughout: `init` has limited pixels, bands and channels, and a row has all of its samples.

    /// `bands` bytes a pixel, rows without padding; CMYK as amounts of ink.
    package func pixels(_ window: ByteWindow) throws -> [UInt8] {
        var pixels = [UInt8](repeating: 0, count: width * height * bands)
        let rows = try PhotoshopRows(
            window, start: start, rowBytes: (width * depth + 7) / 8, height: height, channels: channels,
            countBytes: isLarge ? 4 : 2)
        let colors = try palette.map { try window.all(in: $0) }
        for channel in 0..<(mode == .indexed ? 1 : bands) {
            try rows.read(channel: channel) { row, samples in
                let first = row * width * bands + channel
                if let colors {
                    for column in 0..<width {
                        let (pixel, index) = (first + column * 3, Int(samples[column]))
                        for band in 0..<3 { pixels[pixel + band] = colors[band * 256 + index] }
                    }
                } else {
                    store(samples, &pixels, at: first, isAlpha: channel >= mode.colors)
                }
            }
        }
        if hasAlpha, mode != .cmyk { removeWhite(&pixels) }
        return pixels
    }

    private func store(_ samples: [UInt8], _ pixels: inout [UInt8], at first: Int, isAlpha: Bool) {
        let flip: UInt8 = mode == .cmyk && !isAlpha ? 255 : 0
        switch depth {
        // 1 is black.
        case 1:
            for column in 0..<width {
                pixels[first + column * bands] = samples[column / 8] >> (7 - column % 8) & 1 == 1 ? 0 : 255
            }
        case 8: for column in 0..<width { pixels[first + column * bands] = samples[column] ^ flip }
        default: for column in 0..<width { pixels[first + column * bands] = samples[column * 2] ^ flip }
        }
    }

    /// The colors of transparent pixels are stored mixed with white.
    private func removeWhite(_ pixels: inout [UInt8]) {
        for pixel in stride(from: 0, to: pixels.count, by: bands) {
            let alpha = Int(pixels[pixel + bands - 1])
            guard alpha > 0, alpha < 255 else { continue }
            for band in pixel..<pixel + bands - 1 {
                pixels[band] = UInt8(clamping: ((Int(pixels[band]) - 255 + alpha) * 255 + alpha / 2) / alpha)
            }
        }
    }
}

/// The rows of a flattened image, uncompressed or in PackBits.
struct PhotoshopRows {
    private let window: ByteWindow
    private let rowBytes: Int
    private let height: Int
    private let isPacked: Bool
    /// Offset of the first row.
    private let start: Int
    /// Packed bytes of each row of all channels; empty for uncompressed rows.
    private var counts: [Int] = []

    // Bounded throughout: a row has at most 2^18 bytes, and sides and channels are limited; the sum of all counts is
    // compared with the file.

    /// - Throws: `media.corrupt` when the file ends before the last row of any channel, `media.unsupported`.
    init(_ window: ByteWindow, start: Int, rowBytes: Int, height: Int, channels: Int, countBytes: Int) throws {
        (self.window, self.rowBytes, self.height) = (window, rowBytes, height)
        let compression = try window.bigEndian(at: start, bytes: 2)
        guard compression < 2 else {
            throw AttachPrepError(
                .mediaUnsupported, "The Photoshop document is compressed in an unusual way; send a PNG.",
                detail: "compression \(compression)")
        }
        isPacked = compression == 1
        let rows = height * channels
        guard isPacked else {
            self.start = start + 2
            if rows * rowBytes > window.size - self.start { throw window.cut }
            return
        }
        self.start = start + 2 + rows * countBytes
        let table = try window.all(in: start + 2..<self.start)
        counts = (0..<rows).map { row in
            table[row * countBytes..<(row + 1) * countBytes].reduce(0) { $0 << 8 | Int($1) }
        }
        if counts.reduce(0, +) > window.size - self.start { throw window.cut }
    }

    /// Calls `body` with each row of a channel.
    func read(channel: Int, _ body: (_ row: Int, _ samples: [UInt8]) throws -> Void) throws {
        let first = channel * height
        var offset = isPacked ? start + counts[..<first].reduce(0, +) : start + first * rowBytes
        for row in 0..<height {
            let count = isPacked ? counts[first + row] : rowBytes
            // Twice the longest form of a row, in which every byte has a length of its own.
            guard count <= rowBytes * 4 + 16 else { throw window.broken("a row of \(count) bytes") }
            let stored = try window.all(in: offset..<offset + count)
            try body(row, isPacked ? unpacked(stored) : stored)
            offset += count
        }
    }

    /// Source: Apple, Technical Note TN1023 (PackBits).
    private func unpacked(_ packed: [UInt8]) throws -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(rowBytes + 128)
        var index = 0
        while index + 1 < packed.count, row.count < rowBytes {
            let length = Int(packed[index])
            index += 1
            if length < 128 {
                row += packed[index..<min(index + length + 1, packed.count)]
                index += length + 1
            } else if length > 128 {
                row += repeatElement(packed[index], count: 257 - length)
                index += 1
            }
        }
        guard row.count >= rowBytes else { throw window.broken("a row of \(row.count) bytes") }
        return row
    }
}

extension Limits {
    /// Adobe's maximum number of channels.
    static let photoshopChannelsMax = 56
    /// Bytes of the decoded flattened image, of which two copies are in memory for a moment: 80 megapixels of RGB.
    static let photoshopBytesMax = 240_000_000
    /// Resources of a document that are searched for its profile; documents have some 40.
    static let photoshopResourcesMax = 1_000
    /// Blocks after the layers that are searched.
    static let photoshopBlocksMax = 100
    /// Bytes of an ICC profile; those of printers have up to 3 MB.
    static let photoshopProfileBytesMax = 8_000_000
}
