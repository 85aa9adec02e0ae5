/// The four bytes in front of a frame of MPEG audio.
///
/// Source: ISO/IEC 11172-3, 2.4.1.3, and 13818-3 for the half sample rates; ADTS: ISO/IEC 13818-7, 6.2.
enum MPEGAudioHeader {
    /// Bits a second / 1000 by version 1 layer, then by lower sample rates.
    private static let rates: [[Int]] = [
        [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
    private static let sampleRates = [44_100, 48_000, 32_000]

    /// Layer (1 to 3) and bytes of the frame that begins at an offset, or nil.
    static func frame(in first: FirstBytes, at offset: Int) -> (layer: Int, bytes: Int)? {
        let (second, third) = (Int(first[offset + 1]), Int(first[offset + 2]))
        guard first[offset] == 0xFF, second & 0xE0 == 0xE0 else { return nil }
        let (version, layer) = (second >> 3 & 3, 4 - (second >> 1 & 3))
        let (rateIndex, sampleIndex) = (third >> 4, third >> 2 & 3)
        guard version != 1, layer != 4, (1...14).contains(rateIndex), sampleIndex != 3 else { return nil }
        let row = version == 3 ? layer - 1 : (layer == 1 ? 3 : 4)
        let bitRate = rates[row][rateIndex] * 1000
        let sampleRate = sampleRates[sampleIndex] >> (version == 3 ? 0 : version == 2 ? 1 : 2)
        let padding = third >> 1 & 1
        if layer == 1 { return (1, (12 * bitRate / sampleRate + padding) * 4) }
        let samples = layer == 3 && version != 3 ? 72 : 144
        return (layer, samples * bitRate / sampleRate + padding)
    }

    /// Bytes of the ADTS frame that begins at an offset, or nil.
    static func adtsFrameBytes(in first: FirstBytes, at offset: Int) -> Int? {
        guard first[offset] == 0xFF, first[offset + 1] & 0xF6 == 0xF0 else { return nil }
        let sampleIndex = first[offset + 2] >> 2 & 0x0F
        let bytes =
            Int(first[offset + 3] & 3) << 11 | Int(first[offset + 4]) << 3 | Int(first[offset + 5]) >> 5
        return sampleIndex < 13 && bytes > 7 ? bytes : nil
    }
}
