import AttachPrepModel
import Foundation
import MediaEngine
import MediaLibraries
import MediaProcessing
import MediaTypes
import TestSupport
import Testing

/// Every name on the lists exists and is needed, and nothing else can be used.
@Suite struct AllowListTests {
    // MARK: libav

    @Test func `Every listed demuxer, decoder, encoder and muxer exists in libav`() {
        #expect(AllowList.demuxers.filter { !LibAV.has(.demuxer, name: String($0.prefix { $0 != "," })) } == [])
        #expect(AllowList.decoders.filter { !LibAV.has(.decoder, name: $0) } == [])
        #expect(AllowList.encoders.filter { !LibAV.has(.encoder, name: $0) } == [])
        #expect(AllowList.muxers.filter { !LibAV.has(.muxer, name: $0) } == [])
    }

    @Test func `No protocol is allowed, not even file`() {
        #expect(AllowList.protocols == [])
    }

    @Test func `Demuxers that open other files or addresses exist in libav and are not allowed`() {
        let forbidden = [
            "hls", "concat", "dash", "image2", "sdp", "rtsp", "rtp", "ffmetadata", "lavfi", "tedcaptions", "imf", "srt",
        ].filter { LibAV.has(.demuxer, name: $0) }
        #expect(forbidden.count > 8)
        #expect(AllowList.demuxers.isDisjoint(with: forbidden))
    }

    @Test(arguments: ["mpeg2video", "libx265", "png", "h264_v4l2m2m"])
    func `An encoder outside the list cannot be used`(name: String) {
        #expect(LibAV.has(.encoder, name: name))
        #expect(!LibAV.canEncode(name))
    }

    @Test(arguments: [
        "svq1", "smc", "dst", "ralf", "snow", "tiff", "ansi", "sanm", "xbin", "psd", "h264_v4l2m2m", "cinepak", "vc1",
        "rv40", "ape", "mpc8", "truespeech",
    ])
    func `A decoder outside the list cannot be used`(name: String) {
        #expect(LibAV.has(.decoder, name: name))
        #expect(!LibAV.canDecode(name))
    }

    @Test func `Every allowed demuxer and decoder is used by at least one fixture`() throws {
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
        #expect(AllowList.decoders.subtracting(decoders) == [])
    }

    @Test(arguments: AllowedSample.all)
    func `Every allowed format is inspected as video or audio`(sample: AllowedSample) throws {
        let media = try inspect(sample.file())
        #expect(media.video != nil || !media.audio.isEmpty)
    }

    @Test(arguments: ["svq1.mov", "snow.avi", "huffyuv.avi", "cinepak.avi", "msvideo1.avi", "msmpeg4v2.avi"])
    func `A movie with a codec outside the list is unsupported`(name: String) throws {
        let codec = String(name.prefix { $0 != "." })
        let options = codec == "snow" ? "-pix_fmt yuv410p -strict -2" : ""
        let file = try GeneratedMedia.numbered(name, "-t 0.2 -an -s 64x48 -c:v \(codec) \(options)")
        let error = #expect(throws: AttachPrepError.self) { try inspect(file) }
        #expect(error?.code == .mediaUnsupported && error?.message.contains("video is in") == true)
    }

    // MARK: libvips

    @Test func `libvips loads and saves only through the listed classes`() throws {
        try VipsLibrary.start()
        let foreign = VipsLibrary.allowedClasses.filter { $0.hasPrefix("VipsForeign") }
        #expect(foreign == (VipsLibrary.loaders + VipsLibrary.savers).sorted())
    }

    @Test(arguments: [
        "VipsForeignLoadJpegFile", "VipsForeignLoadSvgFile", "VipsForeignLoadMatrixFile", "VipsForeignLoadCsvFile",
        "VipsForeignLoadVipsFile", "VipsForeignLoadRaw", "VipsForeignLoadPpmSource", "VipsForeignSaveJpegFile",
        "VipsForeignSaveTiffBuffer", "VipsForeignSaveDzBuffer", "VipsForeignSaveRaw", "VipsSystem", "VipsText",
        "VipsMatch", "VipsGlobalbalance",
    ])
    func `Operations that open files, run programs or draw text exist in libvips and are blocked`(name: String) throws {
        try VipsLibrary.start()
        #expect(VipsLibrary.isAllowed(name) == false)
    }

    @Test func `Loaders backed by ImageMagick, PDF and OpenSlide libraries are not loaded`() throws {
        try VipsLibrary.start()
        for name in ["VipsForeignLoadMagick7File", "VipsForeignLoadPdfFile", "VipsForeignLoadOpenslideFile"] {
            #expect(VipsLibrary.isAllowed(name) == nil)
        }
    }

    @Test(arguments: ["lab", "labs", "cmyk", "rgb16", "grey16", "scrgb", "xyz", "b-w", "multiband"])
    func `Pixels in every color space are converted to sRGB`(kind: String) throws {
        let file = GeneratedMedia.folder.appendingPathComponent("\(UUID().uuidString)-\(kind).tif").path
        if kind == "multiband" {
            try GeneratedMedia.run("vips", ["black", file, "200", "100", "--bands", "5"])
        } else {
            try GeneratedMedia.run("vips", ["colourspace", StillFixture.sample("grid.png"), file, kind])
        }
        let still = try RenderedStill(
            file, format: .tiff, reencodes: true, crop: ClippingRect(x: 0, y: 0, width: 0.5, height: 0.5))
        #expect(still.media.attachment != nil && still.media.crop != nil)
        try withDescriptor(URL(filePath: file)) { descriptor in
            _ = try MediaProcessor().perform(
                .inspect(InspectRequest(format: .tiff, decodesStills: true)), descriptors: [descriptor],
                deadline: .now + .seconds(30))
        }
    }

    @Test(arguments: ["ppm", "pdf", "exr", "hdr", "fits", "v", "csv", "mat"])
    func `An image in a format outside the lists does not load`(type: String) throws {
        let bytes: [UInt8]
        switch type {
        case "pdf": bytes = Array("%PDF-1.4\n1 0 obj\n<<>>\nendobj\n".utf8)
        default:
            let headers: [String: [UInt8]] = [
                "ppm": Array("P3\n1 1\n255\n1 1 1\n".utf8), "exr": [0x76, 0x2F, 0x31, 1, 2, 0, 0, 0],
                "hdr": Array("#?RADIANCE\n\n-Y 1 +X 1\nabcd".utf8),
                "fits": Array("SIMPLE  =                    T".utf8),
                "v": [0xB6, 0xA6, 0xF2, 8] + [UInt8](repeating: 0, count: 100), "csv": Array("1,2\n3,4\n".utf8),
                "mat": Array("MATLAB 5.0".utf8),
            ]
            bytes = headers[type] ?? []
        }
        try VipsLibrary.start()
        #expect(throws: VipsError.self) { try Image.open(encoded: bytes + [UInt8](repeating: 32, count: 200)) }
    }
}

@Suite struct LibAVTests {
    @Test func `Every library version has three components`() {
        #expect(
            LibAV.versions.map(\.name) == ["libavformat", "libavcodec", "libavutil", "libswscale", "libswresample"])
        #expect(LibAV.versions.allSatisfy { $0.version.split(separator: ".").count == 3 })
    }

    @Test(arguments: ["h264", "hevc", "av1", "vp9", "aac", "mp3", "opus", "flac", "bmp", "mpeg2video"])
    func `Codecs that the product supports can be decoded`(codec: String) {
        #expect(LibAV.canDecode(codec))
    }

    @Test func `Codecs outside the list are unavailable, and libx264 can encode`() {
        #expect(!LibAV.canDecode("snow"))
        #expect(!LibAV.canDecode("no such codec"))
        #expect(LibAV.canEncode("libx264"))
        #expect(!LibAV.canEncode("no such codec"))
    }
}

/// Files for the entries of the allow-lists that no other fixture covers.
struct AllowedSample: Sendable, CustomStringConvertible {
    let name: String
    /// Arguments of ffmpeg after the input of `GeneratedMedia.numbered`; nil for a file that is built byte by byte.
    let arguments: String?

    var description: String { name }

    init(_ name: String, _ arguments: String? = nil) {
        self.name = name
        self.arguments = arguments
    }

    func file() throws -> URL {
        if let arguments { return try GeneratedMedia.numbered(name, "-t 1 \(arguments)") }
        return try GeneratedMedia.file(name, bytes: name.hasSuffix("awb") ? Self.wideSpeech : Self.narrowSpeech)
    }

    private static let audio = [
        ("pcm_u8", "wav"), ("pcm_s8", "aiff"), ("pcm_s32le", "wav"), ("pcm_s24be", "aiff"), ("pcm_s32be", "aiff"),
        ("pcm_f32le", "wav"), ("pcm_f32be", "aiff"),
        ("pcm_f64le", "wav"), ("pcm_f64be", "aiff"), ("pcm_alaw", "wav"), ("pcm_mulaw", "au"), ("adpcm_ima_wav", "wav"),
        ("adpcm_ms", "wav"), ("adpcm_yamaha", "wav"), ("adpcm_ima_qt", "mov"), ("adpcm_swf", "flv"), ("wmav1", "wma"),
        ("ac3", "mka"),
    ].map { AllowedSample("\($0.0).\($0.1)", "-vn -c:a \($0.0)") }

    private static let video = [
        ("wmv1", "wmv"), ("wmv2", "wmv"), ("msmpeg4", "avi"), ("ffv1", "mkv"), ("png", "mov"), ("rawvideo", "avi"),
    ].map { AllowedSample("\($0.0).\($0.1)", "-an -c:v \($0.0)") }

    static let all =
        audio + video + [
            AllowedSample("gsm.wav", "-vn -ar 8000 -c:a libgsm_ms"),
            AllowedSample("g726.wav", "-vn -ar 8000 -ac 1 -c:a g726"),
            AllowedSample("dts.mka", "-vn -c:a dca -strict -2 -ar 48000"),
            AllowedSample("latm.ts", "-vn -c:a aac -mpegts_flags latm"),
            AllowedSample("h263.3gp", "-an -s 176x144 -c:v h263"),
            AllowedSample("dnxhd.mov", "-an -s 1280x720 -r 25 -pix_fmt yuv422p -c:v dnxhd -b:v 60M"),
            AllowedSample("camera.avi", "-an -s 720x576 -pix_fmt yuv420p -r 25 -c:v dvvideo"),
            AllowedSample("av1.mp4", "-an -t 0.2 -c:v libaom-av1 -cpu-used 8 -row-mt 1"),
            AllowedSample("speech.amr"), AllowedSample("speech.awb"),
        ]

    /// AMR at its lowest rate: a header byte and 95 bits per frame of 20 ms, all zero.
    private static let narrowSpeech =
        Array("#!AMR\n".utf8) + Array(repeatElement([0x04] + [UInt8](repeating: 0, count: 12), count: 50).joined())
    /// AMR-WB at its lowest rate: a header byte and 132 bits per frame.
    private static let wideSpeech =
        Array("#!AMR-WB\n".utf8) + Array(repeatElement([0x04] + [UInt8](repeating: 0, count: 17), count: 50).joined())
}
