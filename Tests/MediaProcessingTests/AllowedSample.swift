import Foundation
import TestSupport

/// Files for those rows of the allow-lists that no other fixture needs.
struct AllowedSample: Sendable, CustomStringConvertible {
    let name: String
    /// For ffmpeg, behind `GeneratedMedia.numbered`; nil for what is made by hand.
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

    private static let sounds = [
        ("pcm_u8", "wav"), ("pcm_s8", "aiff"), ("pcm_s32le", "wav"), ("pcm_s24be", "aiff"), ("pcm_s32be", "aiff"),
        ("pcm_f32le", "wav"), ("pcm_f32be", "aiff"), ("pcm_alaw", "wav"), ("pcm_mulaw", "au"), ("adpcm_ima_wav", "wav"),
        ("adpcm_ms", "wav"), ("wmav1", "wma"), ("ac3", "mka"),
    ].map { AllowedSample("\($0.0).\($0.1)", "-vn -c:a \($0.0)") }

    private static let pictures = [
        ("wmv1", "wmv"), ("msmpeg4", "avi"), ("msmpeg4v2", "avi"), ("ffv1", "mkv"), ("png", "mov"), ("rawvideo", "avi"),
    ].map { AllowedSample("\($0.0).\($0.1)", "-an -c:v \($0.0)") }

    static let all =
        sounds + pictures + [
            AllowedSample("gsm.wav", "-vn -ar 8000 -c:a libgsm_ms"),
            AllowedSample("dts.mka", "-vn -c:a dca -strict -2 -ar 48000"),
            AllowedSample("latm.ts", "-vn -c:a aac -mpegts_flags latm"),
            AllowedSample("h263.3gp", "-an -s 176x144 -c:v h263"),
            AllowedSample("dnxhd.mov", "-an -s 1280x720 -r 25 -pix_fmt yuv422p -c:v dnxhd -b:v 60M"),
            AllowedSample("camera.avi", "-an -s 720x576 -pix_fmt yuv420p -r 25 -c:v dvvideo"),
            AllowedSample("av1.mp4", "-an -t 0.2 -c:v libaom-av1 -cpu-used 8 -row-mt 1"),
            AllowedSample("speech.amr"), AllowedSample("speech.awb"),
        ]

    /// AMR at its lowest rate: a header byte and 95 bits a frame of 20 ms, all zero.
    private static let narrowSpeech =
        Array("#!AMR\n".utf8) + Array(repeatElement([0x04] + [UInt8](repeating: 0, count: 12), count: 50).joined())
    /// As above, of the wide band: 132 bits.
    private static let wideSpeech =
        Array("#!AMR-WB\n".utf8) + Array(repeatElement([0x04] + [UInt8](repeating: 0, count: 17), count: 50).joined())
}
