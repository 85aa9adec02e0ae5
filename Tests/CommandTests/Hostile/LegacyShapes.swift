import Foundation
import TestSupport

/// Old audio, movie and image formats with extreme values in their headers.
enum LegacyShapes {
    private typealias Bytes = MediaBytes

    private static let rejected: Set<String> = [
        "media.corrupt", "media.unsupported", "media.unrecognized", "media.too_many_pixels", "media.too_long",
    ]
    /// A slow machine makes a best attempt of the largest one.
    private static let readable = rejected.union(["converted", "shrunk", "bestAttempt"])

    static let audio: [HostileFile] = [
        HostileFile("channels.dsf", rejected) { _ in LegacyMedia.dsf(channels: 0x7FFF_FFFF) },
        HostileFile("rate.dsf", readable) { _ in LegacyMedia.dsf(rate: 0x7FFF_FFFF) },
        HostileFile("still.dsf", rejected) { _ in LegacyMedia.dsf(rate: 0) },
        HostileFile("samples.dsf", readable) { _ in LegacyMedia.dsf(samples: Int.max) },
        HostileFile("channels.dff", rejected) { _ in LegacyMedia.dff(channels: 65_535) },
        HostileFile("rate.dff", readable) { _ in LegacyMedia.dff(rate: 0x7FFF_FFFF) },
        HostileFile("frames.ape", rejected) { _ in LegacyMedia.monkeysAudio(declaredFrames: 0x7FFF_FFFF) },
        HostileFile("many.ape", rejected) { _ in LegacyMedia.monkeysAudio(frames: 400_000) },
        HostileFile("blocks.ape", readable) { _ in
            LegacyMedia.monkeysAudio(frames: 2, blocksPerFrame: 0x7FFF_FFFF, lastBlocks: 0x7FFF_FFFF)
        },
        HostileFile("insane.ape", readable) { _ in LegacyMedia.monkeysAudio(frames: 20, level: 5_000) },
        HostileFile("frames.mpc", readable) { _ in LegacyMedia.musepack7(declaredFrames: 0x7FFF_FFFF) },
        HostileFile("samples.mpc", readable) { _ in
            LegacyMedia.musepack8(samples: [UInt8](repeating: 0xFF, count: 8) + [0x7F])
        },
        HostileFile("rows.rm", readable) { _ in LegacyMedia.realAudioCook(rows: 65_535, frame: 65_535, part: 1) },
        HostileFile("part.rm", readable) { _ in LegacyMedia.realAudioCook(rows: 1, frame: 240, part: 240) },
    ]

    static let movies: [HostileFile] =
        [
            HostileFile("huge.avi", rejected) { _ in LegacyMedia.runLengthMovie(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF)
            },
            HostileFile("large.avi", readable) { _ in LegacyMedia.runLengthMovie(width: 8_000, height: 4_000) },
        ] + ["cvid", "CRAM", "IV31", "IV41", "IV50", "RT21", "MP41", "RV30", "RV40"].map(relabeled)

    /// The pictures of another codec under this one's name.
    private static func relabeled(_ codec: String) -> HostileFile {
        HostileFile("\(codec).avi", readable) { _ in
            var bytes = LegacyMedia.runLengthMovie(frames: 200)
            guard let stream = bytes.firstRange(of: Bytes.text("vidsmrle")) else { return bytes }
            bytes.replaceSubrange(stream.upperBound - 4..<stream.upperBound, with: Bytes.text(codec))
            guard let format = bytes.firstRange(of: Bytes.text("strf")) else { return bytes }
            bytes.replaceSubrange(format.upperBound + 20..<format.upperBound + 24, with: Bytes.text(codec))
            return bytes
        }
    }

    private static let pixels = Bytes.zeros(16 * 16 * 3) ++ Bytes.zeros(16 * 4)

    static let images: [HostileFile] = [
        HostileFile("huge.psd", rejected) { _ in
            LegacyMedia.photoshop(width: 30_000, height: 30_000, channels: [[0]], declaredChannels: 3)
        },
        HostileFile("large.psd", rejected) { _ in
            LegacyMedia.photoshop(width: 10_000, height: 10_000, channels: [[0]], declaredChannels: 3)
        },
        HostileFile("empty.psd", rejected) { _ in
            LegacyMedia.photoshop(width: 8_000, height: 8_000, channels: [[0]], declaredChannels: 3)
        },
        HostileFile("channels.psd", rejected) { _ in LegacyMedia.photoshop(declaredChannels: 65_535) },
        HostileFile("section.psd", rejected) { _ in
            Array(LegacyMedia.photoshop().prefix(26)) ++ [UInt8](repeating: 0xFF, count: 40)
        },
        HostileFile("resources.psd", ["converted"]) { _ in
            LegacyMedia.photoshop(resources: Bytes.repeated(Bytes.text("8BIM") ++ [4, 0, 0, 0, 0, 0, 0, 0], 100_000))
        },
        HostileFile("profile.psd", ["converted"]) { _ in
            let resource = Bytes.text("8BIM") ++ [4, 15, 0, 0] ++ Bytes.bigEndian(4_000, 4) ++ LegacyMedia.noise(4_000)
            return LegacyMedia.photoshop(resources: resource)
        },
        HostileFile("runs.psd", rejected) { _ in
            // Each row is packed in the longest way, and none reaches its end.
            let head = Array(LegacyMedia.photoshop(width: 60_000, height: 1_000, channels: [[0]]).dropLast(6))
            return head ++ [0, 1] ++ Bytes.repeated([0xFF, 0xFF], 1_000) ++ Bytes.repeated([0x80], 65_535_000)
        },
        HostileFile("entries.ico", rejected) { _ in
            [0, 0, 1, 0, 255, 255] ++ Bytes.repeated([16, 16, 0, 0, 1, 0, 24, 0, 1, 0, 0, 0, 22, 0, 0, 0], 65_535)
        },
        HostileFile("outside.ico", rejected) { _ in
            [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 24, 0] ++ [UInt8](repeating: 0xFF, count: 8) ++ Bytes.zeros(100)
        },
        HostileFile("huge.ico", rejected) { _ in
            let bitmap = LegacyMedia.iconBitmap(width: 0x7FFF_FFFF, height: 1, pixels: pixels, mask: [])
            return LegacyMedia.icon([(16, 16, bitmap)])
        },
        HostileFile("low.ico", rejected) { _ in
            let bitmap = LegacyMedia.iconBitmap(
                width: 16, height: 16, pixels: pixels, mask: [], declaredHeight: -2_147_483_648)
            return LegacyMedia.icon([(16, 16, bitmap)])
        },
        HostileFile("png.ico", rejected) { _ in
            let png =
                Bytes.pngSignature ++ Bytes.pngHeader(20_000, 20_000)
                ++ Bytes.png("IDAT", Bytes.zlibBomb(90_000_000)) ++ Bytes.png("IEND")
            return LegacyMedia.icon([(0, 0, png)])
        },
    ]
}

/// SVGs that are slow or large to draw.
enum DrawingShapes {
    private static let allowed: Set<String> = [
        "converted", "bestAttempt", "media.corrupt", "media.unsupported", "media.too_many_pixels", "deadline.exceeded",
    ]

    private static func drawing(_ content: String, side: Int = 3_000) -> [UInt8] {
        let head = "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'"
        return MediaBytes.text("\(head) width='\(side)' height='\(side)'>\(content)</svg>")
    }

    private static func file(
        _ name: String, side: Int = 3_000, _ content: @escaping @Sendable () -> String
    ) -> HostileFile {
        HostileFile("\(name).svg", allowed) { _ in drawing(content(), side: side) }
    }

    static let all: [HostileFile] = [
        file("huge", side: 2_000_000_000) { "<rect width='9' height='9'/>" },
        file("deep") { String(repeating: "<g opacity='.9'>", count: 100_000) },
        file("use") {
            let levels = (1...9).map { level in
                "<g id='a\(level)'>\(String(repeating: "<use xlink:href='#a\(level - 1)'/>", count: 10))</g>"
            }
            return "<g id='a0'><rect width='1' height='1'/></g>\(levels.joined())<use xlink:href='#a9'/>"
        },
        file("blur") {
            let blurs = String(repeating: "<feGaussianBlur stdDeviation='500'/>", count: 20)
            return "<filter id='f' x='-1' y='-1' width='3' height='3'>\(blurs)</filter>"
                + "<rect width='3000' height='3000' filter='url(#f)'/>"
        },
        file("turbulence") {
            "<filter id='f'><feTurbulence baseFrequency='0.5' numOctaves='2000'/></filter>"
                + "<rect width='3000' height='3000' filter='url(#f)'/>"
        },
        file("masks") {
            (0..<300).map {
                "<mask id='m\($0)'><rect width='3000' height='3000' fill='white' mask='url(#m\($0 + 1))'/></mask>"
            }.joined() + "<rect width='3000' height='3000' mask='url(#m0)'/>"
        },
        file("patterns") {
            (0..<1_000).map {
                "<pattern id='p\($0)' width='1' height='1'><rect width='9' height='9' fill='url(#p\($0 + 1))'/>"
                    + "</pattern>"
            }.joined() + "<rect width='3000' height='3000' fill='url(#p0)'/>"
        },
        file("chain") {
            (0..<2_000).map { "<g id='g\($0)'><use xlink:href='#g\($0 + 1)'/></g>" }.joined()
                + "<g id='g2000'><rect width='9' height='9'/></g>"
        },
        file("groups") {
            let group = "<g opacity='.9'><rect width='3000' height='3000'/>"
            return String(repeating: group, count: 200) + String(repeating: "</g>", count: 200)
        },
        file("tiny-pattern") {
            "<pattern id='p' width='.01' height='.01' patternUnits='userSpaceOnUse'><rect width='.5' height='.5'/>"
                + "</pattern><rect width='3000' height='3000' fill='url(#p)'/>"
        },
        file("bitmap") {
            // 90 MB of zeros for a PNG of 20,000 x 20,000.
            let png =
                MediaBytes.pngSignature ++ MediaBytes.pngHeader(20_000, 20_000)
                ++ MediaBytes.png("IDAT", MediaBytes.zlibBomb(90_000_000)) ++ MediaBytes.png("IEND")
            let text = Data(png).base64EncodedString()
            return "<image width='3000' height='3000' xlink:href='data:image/png;base64,\(text)'/>"
        },
    ]
}
