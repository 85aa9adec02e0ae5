import FuzzSupport
import MediaEngine
import MediaTypes

@testable import MediaProcessing

/// Fuzzes the signature tables and MPEG audio frame headers.
@main enum SignatureFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            let offset = input.number(in: 0...4_096) - 64
            let bytes = input.rest()
            let first = LeadingBytes(bytes)
            let format = FileSignature.format(of: first)
            Invariant.hold(FileSignature.format(of: LeadingBytes(bytes)) == format, "same bytes, same format")
            Invariant.hold(AudioSignature.tagEnd(first) >= 0, "a tag does not end before it begins")
            if bytes.isEmpty { Invariant.hold(format == nil, "an empty file has no format") }
            _ = (first.code(at: offset), first.bigEndian32(at: offset), first[offset], ISOBrand.format(of: first))
            Invariant.hold(first.contains("ftyp", within: offset) == false || bytes.count >= 4, "a match has 4 bytes")
            _ = MagicMIMEType.meaning(String(decoding: bytes.prefix(40), as: UTF8.self))
            check(MPEGAudioHeader(UInt32(first.bigEndian32(at: 0))))
        }
    }

    private static func check(_ header: MPEGAudioHeader?) {
        guard let header else { return }
        Invariant.hold((1...3).contains(header.layer) && header.sampleRate >= 8_000, "a header is plausible")
        Invariant.hold(header.matches(header), "a header matches itself")
        if let bytes = header.frameBytes { Invariant.hold((24...8_192).contains(bytes), "a frame has \(bytes) bytes") }
    }
}
