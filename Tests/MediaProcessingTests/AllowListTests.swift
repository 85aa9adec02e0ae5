import Foundation
import LibAV
import MediaEngine
import MediaProcessing
import RichPush
import TestSupport
import Testing
import Vips

/// What of the libraries may be used at all: each name is there, each is needed, and nothing else is.
@Suite struct AllowListTests {
    // MARK: libav

    @Test func `each name of libav's lists is libav's own`() {
        #expect(AllowList.demuxers.filter { !LibAV.has(.demuxer, String($0.prefix { $0 != "," })) } == [])
        #expect(AllowList.decoders.filter { !LibAV.has(.decoder, $0) } == [])
        #expect(AllowList.encoders.filter { !LibAV.has(.encoder, $0) } == [])
        #expect(AllowList.muxers.filter { !LibAV.has(.muxer, $0) } == [])
    }

    @Test func `no protocol is allowed, not even files`() {
        #expect(AllowList.protocols == [])
    }

    @Test func `what opens other files or runs programs is there and not allowed`() {
        let opening = [
            "hls", "concat", "dash", "image2", "sdp", "rtsp", "rtp", "ffmetadata", "lavfi", "tedcaptions", "imf", "srt",
        ].filter { LibAV.has(.demuxer, $0) }
        #expect(opening.count > 8)
        #expect(AllowList.demuxers.isDisjoint(with: opening))
    }

    @Test(arguments: ["mpeg2video", "libx265", "png", "h264_v4l2m2m"])
    func `an encoder outside the list is not there`(name: String) {
        #expect(LibAV.has(.encoder, name))
        #expect(!LibAV.canEncode(name))
    }

    @Test(arguments: ["cinepak", "svq1", "indeo3", "snow", "tiff", "ansi", "sanm", "xbin", "h264_v4l2m2m"])
    func `a decoder outside the list is not there`(name: String) {
        #expect(LibAV.has(.decoder, name))
        #expect(!LibAV.canDecode(name))
    }

    @Test func `each demuxer and each decoder is needed by a file`() throws {
        var demuxers: Set<String> = []
        var decoders: Set<String> = ["bmp"]
        for file in try MovieFixture.all.map({ try $0.file() }) + AllowedSample.all.map({ try $0.file() }) {
            try withDescriptor(file) { descriptor in
                let name = file.lastPathComponent.hasSuffix("layer2.mp2") ? "mp3" : nil
                let demuxer = try Demuxer.open(descriptor, demuxer: name, deadline: .now + .seconds(60))
                try demuxer.findStreamInformation(pixelsMax: 1_000_000)
                demuxers.insert(demuxer.name)
                for stream in demuxer.streams where stream.isDecodable {
                    decoders.formUnion([LibAV.decoderName(codec: stream.codec)].compactMap { $0 })
                }
            }
        }
        #expect(AllowList.demuxers.subtracting(demuxers) == [])
        #expect(AllowList.decoders.subtracting(decoders) == AllowList.unsampled)
    }

    @Test(arguments: AllowedSample.all) func `what the lists allow is shown or played`(sample: AllowedSample) throws {
        let media = try inspect(sample.file())
        #expect(media.video != nil || !media.audio.isEmpty)
    }

    @Test(arguments: ["cinepak.avi", "svq1.mov", "snow.avi", "huffyuv.avi"])
    func `a movie of another codec is unsupported`(name: String) throws {
        let codec = String(name.prefix { $0 != "." })
        let options = codec == "snow" ? "-pix_fmt yuv410p -strict -2" : ""
        let file = try GeneratedMedia.numbered(name, "-t 0.2 -an -s 64x48 -c:v \(codec) \(options)")
        let failure = #expect(throws: AttachPrepError.self) { try inspect(file) }
        #expect(failure?.code == .mediaUnsupported)
    }

    // MARK: libvips

    @Test func `libvips loads and saves by the classes of the lists alone`() throws {
        try VipsLibrary.start()
        let foreign = VipsLibrary.allowedClasses.filter { $0.hasPrefix("VipsForeign") }
        #expect(foreign == (VipsLibrary.loaders + VipsLibrary.savers).sorted())
    }

    @Test(arguments: [
        "VipsForeignLoadJpegFile", "VipsForeignLoadSvgSource", "VipsForeignLoadMatrixFile", "VipsForeignLoadCsvFile",
        "VipsForeignLoadVipsFile", "VipsForeignLoadRaw", "VipsForeignLoadPpmSource", "VipsForeignSaveJpegFile",
        "VipsForeignSaveTiffBuffer", "VipsForeignSaveDzBuffer", "VipsForeignSaveRaw", "VipsSystem", "VipsText",
        "VipsMatch", "VipsGlobalbalance",
    ]) func `an operation that opens, runs or draws more is there and blocked`(name: String) throws {
        try VipsLibrary.start()
        #expect(VipsLibrary.isAllowed(name) == false)
    }

    @Test func `libraries that run programs or interpret scripts are not even loaded`() throws {
        try VipsLibrary.start()
        for name in ["VipsForeignLoadMagick7File", "VipsForeignLoadPdfFile", "VipsForeignLoadOpenslideFile"] {
            #expect(VipsLibrary.isAllowed(name) == nil)
        }
    }

    @Test(arguments: ["lab", "labs", "cmyk", "rgb16", "grey16", "scrgb", "xyz", "b-w", "multiband"])
    func `pixels of every kind become sRGB`(kind: String) throws {
        let file = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(kind).tif").path
        if kind == "multiband" {
            try GeneratedMedia.run("vips", ["black", file, "200", "100", "--bands", "5"])
        } else {
            try GeneratedMedia.run("vips", ["colourspace", StillFixture.sample("grid.png"), file, kind])
        }
        let still = try RenderedStill(
            file, format: .tiff, anew: true, crop: ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5))
        #expect(still.media.attachment != nil && still.media.crop != nil)
        try withDescriptor(URL(filePath: file)) { descriptor in
            _ = try MediaProcessor().perform(
                .inspect(InspectRequest(format: .tiff, decodesStills: true)), descriptors: [descriptor],
                deadline: .now + .seconds(30))
        }
    }

    @Test(arguments: ["svg", "ppm", "pdf", "exr", "hdr", "fits", "jxl", "jp2", "v", "csv", "mat"])
    func `a picture of a format outside the lists does not load`(type: String) throws {
        let bytes: [UInt8]
        switch type {
        case "svg": bytes = Array(#"<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>"#.utf8)
        case "pdf": bytes = Array("%PDF-1.4\n1 0 obj\n<<>>\nendobj\n".utf8)
        default:
            let heads: [String: [UInt8]] = [
                "ppm": Array("P3\n1 1\n255\n1 1 1\n".utf8), "exr": [0x76, 0x2F, 0x31, 1, 2, 0, 0, 0],
                "hdr": Array("#?RADIANCE\n\n-Y 1 +X 1\nabcd".utf8),
                "fits": Array("SIMPLE  =                    T".utf8),
                "jxl": [0xFF, 0x0A, 0, 0], "jp2": [0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 13, 10, 0x87, 10],
                "v": [0xB6, 0xA6, 0xF2, 8] + [UInt8](repeating: 0, count: 100), "csv": Array("1,2\n3,4\n".utf8),
                "mat": Array("MATLAB 5.0".utf8),
            ]
            bytes = heads[type] ?? []
        }
        try VipsLibrary.start()
        #expect(throws: VipsError.self) { try Image.open(encoded: bytes + [UInt8](repeating: 32, count: 200)) }
    }
}
