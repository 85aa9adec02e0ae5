import Foundation
import TestSupport

/// SVGs that are slow or large to draw.
enum DrawingShapes {
    private static let allowed: Set<String> = [
        "converted", "bestAttempt", "media.too_many_pixels", "media.corrupt", "media.unsupported",
        "media.decoder_crashed", "media.too_complex",
        // On a busy machine, 2 s of processor time last longer than the budget.
        "deadline.exceeded",
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
