import Foundation
import MediaEngine
import MediaLibraries
import MediaTypes
import TestSupport
import Testing

@testable import MediaProcessing

/// Colors that a file declares by code points, gamma or chromaticities are shown as its numbers say, in attachment and
/// thumbnail. The expected values are computed here, from published matrices and curves.
@Suite struct DeclaredColorsTests {
    // MARK: The reference

    /// Linear light to linear sRGB: BT.2087-0 for BT.2020; the others are published for SMPTE-C and Display P3.
    private static let matrices: [Int: [[Double]]] = [
        1: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        6: [
            [0.939542, 0.050181, 0.010277], [0.017772, 0.965793, 0.016435], [-0.001622, -0.004370, 1.005991],
        ],
        9: [
            [1.660491, -0.587641, -0.072850], [-0.124550, 1.132900, -0.008349], [-0.018151, -0.100579, 1.118730],
        ],
        12: [
            [1.224940, -0.224940, 0], [-0.042057, 1.042057, 0], [-0.019638, -0.078636, 1.098274],
        ],
    ]
    private static let luminances: [Int: [Double]] = [
        1: [0.2126, 0.7152, 0.0722], 6: [0.2124, 0.7011, 0.0866], 9: [0.2627, 0.678, 0.0593],
        12: [0.2290, 0.6917, 0.0793],
    ]

    private static func nits(_ code: Double) -> Double {
        let power = pow(code, 1 / 78.84375)
        return 10_000 * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 1 / 0.1593017578125)
    }

    private static func code(_ nits: Double) -> Double {
        let power = pow(nits / 10_000, 0.1593017578125)
        return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 78.84375)
    }

    /// BT.2390's curve from 1,000 to 203 nits on the brightest component, as in docs/explanation/stills.md.
    private static func toneMapped(_ light: [Double]) -> [Double] {
        let brightest = light.max() ?? 0
        guard brightest > 0 else { return [0, 0, 0] }
        let (peak, white) = (code(1_000), code(203) / code(1_000))
        let (value, knee) = (min(1, code(brightest) / peak), 1.5 * white - 0.5)
        var shown = brightest
        if value >= knee {
            let t = (value - knee) / (1 - knee)
            let spline =
                (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee)
                + (3 * t * t - 2 * t * t * t) * white
            shown = nits(spline * peak)
        }
        return light.map { $0 * shown / brightest / 203 }
    }

    private static func linear(_ values: [Double], _ primaries: Int, _ transfer: Int) -> [Double] {
        switch transfer {
        case 4: return values.map { pow($0, 2.2) }
        case 5: return values.map { pow($0, 2.8) }
        case 8: return values
        case 16: return toneMapped(values.map(nits))
        case 18:
            let scene = values.map { $0 <= 0.5 ? $0 * $0 / 3 : (exp(($0 - 0.55991073) / 0.17883277) + 0.28466892) / 12 }
            let luminance = zip(scene, luminances[primaries] ?? []).reduce(0) { $0 + $1.0 * $1.1 }
            return toneMapped(scene.map { 1_000 * pow(luminance, 0.2) * $0 })
        default: return values.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        }
    }

    private static func expected(_ pixel: ArraySlice<UInt8>, _ primaries: Int, _ curve: ([Double]) -> [Double])
        -> [Double]
    {
        let light = curve(pixel.map { Double($0) / 255 })
        return (matrices[primaries] ?? []).map { row in
            let value = min(1, max(0, zip(row, light).reduce(0) { $0 + $1.0 * $1.1 }))
            return 255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055)
        }
    }

    /// Pixels that are compared: one of so many.
    private static let step = 37

    /// Mean difference of a shown image from what the stored values mean.
    private static func difference(
        _ shown: TestImage, from stored: TestImage, _ primaries: Int, _ curve: ([Double]) -> [Double]
    ) -> Double {
        guard (shown.width, shown.height) == (stored.width, stored.height) else { return .infinity }
        var (sum, count) = (0.0, 0)
        for index in stride(from: 0, to: stored.bytes.count, by: 4 * step) {
            let wanted = expected(stored.bytes[index..<index + 3], primaries, curve)
            sum += zip(wanted, shown.bytes[index..<index + 3]).reduce(0) { $0 + abs($1.0 - Double($1.1)) }
            count += 3
        }
        return sum / Double(count)
    }

    // MARK: HEIC and AVIF

    static let pairs =
        [1, 9, 12].flatMap { primaries in [5, 8, 13, 16, 18].map { (primaries, $0) } } + [(6, 1), (1, 4)]

    private func check(_ heif: SyntheticHEIF, of labels: SyntheticHEIF, _ primaries: Int, _ transfer: Int) throws {
        let stored = try RenderedStill(labels.file(), format: heif.format, reencodes: true).image(.attachment)
        let still = try RenderedStill(heif.file(), format: heif.format, reencodes: true, side: 800)
        for output in [RenderOutput.attachment, .thumbnail] {
            let difference = try Self.difference(still.image(output), from: stored, primaries) {
                Self.linear($0, primaries, transfer)
            }
            #expect(difference < 3, "\(output) of \(primaries)/\(transfer): \(difference)")
        }
    }

    @Test(arguments: [MediaFormat.heic, .avif], pairs)
    func `A HEIF is shown in the primaries and the curve of its code points`(
        format: MediaFormat, pair: (Int, Int)
    ) throws {
        var (heif, plain) = (SyntheticHEIF(format), SyntheticHEIF(format))
        let isFull = format == .avif
        heif.properties = [
            SyntheticHEIF.nclx(primaries: pair.0, transfer: pair.1, matrix: 6, isFullRange: isFull)
        ]
        plain.properties = [SyntheticHEIF.nclx(matrix: 6, isFullRange: isFull)]
        try check(heif, of: plain, pair.0, pair.1)
    }

    @Test(arguments: [MediaFormat.heic, .avif])
    func `A profile counts more than code points, whose matrix and range still count`(format: MediaFormat) throws {
        var (heif, plain) = (SyntheticHEIF(format), SyntheticHEIF(format))
        let isFull = format == .avif
        plain.properties = [SyntheticHEIF.nclx(matrix: 1, isFullRange: isFull)]
        heif.properties = [
            SyntheticHEIF.nclx(primaries: 9, transfer: 8, matrix: 1, isFullRange: isFull),
            try SyntheticHEIF.displayP3(),
        ]
        try check(heif, of: plain, 12, 13)
    }

    @Test(arguments: [9, 12])
    func `With alpha, the colors are the same, and an opaque alpha is none`(primaries: Int) throws {
        let colors = SyntheticHEIF.nclx(primaries: primaries, transfer: 16, matrix: 6, isFullRange: false)
        let plain = SyntheticHEIF.nclx(matrix: 6, isFullRange: false)
        let stored = try RenderedStill(
            LinkedHEIF(items: [LinkedHEIF.image([plain])], references: []).file(), format: .heic, reencodes: true
        ).image(.attachment)
        let heif = LinkedHEIF(
            items: [try LinkedHEIF.image([colors]), try LinkedHEIF.auxiliary(LinkedHEIF.alphaName)],
            references: [.init(type: "auxl", from: 2, to: [1])])
        let image = try RenderedStill(heif.file(), format: .heic, reencodes: true).image(.attachment)
        #expect(Self.difference(image, from: stored, primaries) { Self.linear($0, primaries, 16) } < 3)
        #expect(image.bytes.indices.contains { $0 % 4 == 3 && image.bytes[$0] < 255 })
    }

    // MARK: PNG

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] { PNGChunk.bytes(type, content: content) }

    private static func cicp(_ primaries: Int, _ transfer: Int) -> [UInt8] {
        chunk("cICP", [UInt8(primaries), UInt8(transfer), 0, 1])
    }

    private static func gamma(_ value: Int) -> [UInt8] { chunk("gAMA", MediaBytes.bigEndian(value, 4)) }

    /// White, red, green and blue of Display P3.
    private static let chromaticitiesP3 = chunk(
        "cHRM",
        [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000].flatMap { MediaBytes.bigEndian($0, 4) })
    private static let sRGB = chunk("sRGB", [0])

    private func png(_ chunks: [UInt8], _ source: String = StillFixture.sample("grid.png")) throws -> String {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: source)))
        let start = try #require(bytes.firstRange(of: Array("IDAT".utf8))).lowerBound - 4
        bytes.insert(contentsOf: chunks, at: start)
        return try GeneratedMedia.file("colors.png", bytes: bytes).path
    }

    private func check(_ chunks: [UInt8], source: String? = nil, _ primaries: Int, _ curve: ([Double]) -> [Double])
        throws
    {
        let source = try source ?? StillFixture.converted("plain.png", ["-strip", "-define", "png:exclude-chunks=all"])
        let stored = try TestImage(decoding: source)
        let file = try png(chunks, source)
        // A crop is encoded again; an attachment keeps the coded pixels and these chunks.
        let whole = try ClippingRect(x: 0, y: 0, width: 1, height: 1)
        let crop = try RenderedStill(file, format: .png, crop: whole, side: 800).image(.crop)
        let thumbnail = try RenderedStill(file, format: .png, side: 800).image(.thumbnail)
        for image in [crop, thumbnail] {
            let difference = Self.difference(image, from: stored, primaries, curve)
            #expect(difference < 3, "\(primaries): \(difference)")
        }
    }

    @Test(arguments: pairs) func `A PNG is shown in the colors of its code points`(pair: (Int, Int)) throws {
        try check(Self.cicp(pair.0, pair.1), pair.0) { Self.linear($0, pair.0, pair.1) }
    }

    @Test(arguments: [100_000, 55_100, 45_455, 35_000])
    func `A PNG is shown with its gamma and its chromaticities`(gamma: Int) throws {
        // That of 1/2.2 counts as sRGB's.
        let power = { (values: [Double]) in
            gamma == 45_455 ? Self.linear(values, 1, 13) : values.map { pow($0, 100_000 / Double(gamma)) }
        }
        try check(Self.gamma(gamma), 1, power)
        try check(Self.chromaticitiesP3 + Self.gamma(gamma), 12, power)
    }

    @Test func `Of two descriptions in a PNG, the one that comes first in the standard counts`() throws {
        let sRGBCurve = { (values: [Double]) in Self.linear(values, 1, 13) }
        try check(Self.chromaticitiesP3, 12, sRGBCurve)
        try check(Self.sRGB + Self.gamma(100_000) + Self.chromaticitiesP3, 1, sRGBCurve)
        try check(Self.cicp(12, 13) + Self.gamma(100_000) + Self.sRGB, 12, sRGBCurve)
        let profiled = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-p3.png").path
        try GeneratedMedia.run("vips", ["pngsave", StillFixture.sample("grid.png"), profiled, "--profile", "p3"])
        try check(Self.cicp(1, 8), source: profiled, 1) { $0 }
        try check([], source: profiled, 12, sRGBCurve)
    }

    @Test func `Gray and 16 bits are shown with the same curve`() throws {
        let gray = try StillFixture.converted(
            "gray.png", ["-colorspace", "Gray", "-strip", "-define", "png:exclude-chunks=all"])
        try check(Self.gamma(100_000), source: gray, 1) { $0 }
        let deep = try StillFixture.converted("deep.png", ["-depth", "16", "-define", "png:exclude-chunks=all"])
        try check(Self.cicp(9, 16), source: deep, 9) { Self.linear($0, 9, 16) }
        try check(Self.gamma(100_000), source: deep, 1) { $0 }
    }

    @Test func `The frames of an animated PNG have the colors of its chunks`() throws {
        let source = try AnimationFixture.apng()
        let file = try png(Self.gamma(100_000), source)
        let plain = try RenderedStill(source, format: .png, frameSelection: .animationFrame(2), side: 48)
        let still = try RenderedStill(file, format: .png, frameSelection: .animationFrame(2), side: 48)
        let difference = try Self.difference(still.image(.thumbnail), from: plain.image(.thumbnail), 1) { $0 }
        #expect(difference < 6, "\(difference)")
    }
}
