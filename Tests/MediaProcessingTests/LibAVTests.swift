import LibAV
import Testing

@Suite struct LibAVTests {
    @Test func `versions are numbers`() {
        #expect(
            LibAV.versions.map(\.name) == ["libavformat", "libavcodec", "libavutil", "libswscale", "libswresample"])
        #expect(LibAV.versions.allSatisfy { $0.version.split(separator: ".").count == 3 })
    }

    @Test(arguments: ["h264", "hevc", "av1", "vp9", "aac", "mp3", "opus", "flac", "bmp", "mpeg2video"])
    func `what the product promises can be decoded`(codec: String) {
        #expect(LibAV.canDecode(codec))
    }

    @Test func `what is not allowed is not there`() {
        #expect(!LibAV.canDecode("snow"))
        #expect(!LibAV.canDecode("no such codec"))
        #expect(LibAV.canEncode("libx264"))
        #expect(!LibAV.canEncode("no such codec"))
    }
}
