package import RichPush

/// Sounds by the bytes their files begin with.
package enum SoundSignature {
    /// The sound format these bytes begin, or nil.
    package static func format(of first: FirstBytes) -> MediaFormat? {
        containerFormat(of: first) ?? table.first { first.has($0.signature) }?.format ?? oggFormat(of: first)
            ?? dolbyFormat(of: first) ?? framedFormat(of: first, from: tagEnd(first))
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        (Array(".snd".utf8), .au),
        (Array("caff".utf8), .caf),
        (Array("fLaC".utf8), .flac),
        (Array("#!AMR".utf8), .amr),
        (Array("wvpk".utf8), .wavPack),
        (Array("TTA1".utf8), .trueAudio),
        (Array("MAC ".utf8), .monkeysAudio),
        (Array("MThd".utf8), .midi),
        ([0x7F, 0xFE, 0x80, 0x01], .dts),
        (Array("riff".utf8) + [0x2E, 0x91, 0xCF, 0x11], .wave64),
    ]

    private static func containerFormat(of first: FirstBytes) -> MediaFormat? {
        switch (first.code(at: 0), first.code(at: 8)) {
        case ("RIFF", "WAVE"): .wave
        case ("RF64", "WAVE"), ("BW64", "WAVE"): .wave64
        case ("RIFF", "RMID"): .midi
        case ("FORM", "AIFF"): .aiff
        case ("FORM", "AIFC"): .aifc
        default: nil
        }
    }

    /// The first page of an Ogg file holds its first stream's header, behind a table of segments.
    private static func oggFormat(of first: FirstBytes) -> MediaFormat? {
        guard first.has("OggS") else { return nil }
        // Bounded throughout: one byte.
        let header = 27 + Int(first[26])
        if first.has([0x80], at: header), first.has("theora", at: header + 1) { return .oggVideo }
        if first.has("fishead", at: header) { return .oggVideo }
        if first.has("OpusHead", at: header) { return .opus }
        if first.has("Speex", at: header) { return .speex }
        return .vorbis
    }

    private static func dolbyFormat(of first: FirstBytes) -> MediaFormat? {
        guard first.has([0x0B, 0x77]), first.count > 5 else { return nil }
        let identification = first[5] >> 3
        return identification <= 10 ? .ac3 : identification <= 16 ? .eac3 : nil
    }

    /// Where an ID3v2 tag ends: behind it lies an MP3, an ADTS stream or a FLAC.
    package static func tagEnd(_ first: FirstBytes) -> Int {
        guard first.has("ID3"), first[3] < 0xFF, first[6] | first[7] | first[8] | first[9] < 0x80 else { return 0 }
        // Bounded throughout: seven bits each.
        let size = (6...9).reduce(0) { $0 << 7 | Int(first[$1]) }
        let footer = first[5] & 0x10 == 0 ? 0 : 10
        return 10 + size + footer
    }

    // Bounded throughout: offsets lie in the first bytes, or behind a tag of at most 2^28, and a frame takes less than
    // 2^16 bytes.

    /// How many bytes of padding or rubbish may stand before the first frame.
    private static let searchBytesMax = 2_048

    private static func framedFormat(of first: FirstBytes, from start: Int) -> MediaFormat? {
        if start > 0, first.has("fLaC", at: start) { return .flac }
        guard start + 4 < first.count else { return nil }
        for offset in start..<min(start + searchBytesMax, first.count - 4) where first[offset] == 0xFF {
            if isADTS(first, at: offset) { return .aac }
            if let layer = layerOfRun(first, at: offset) { return layer == 3 ? .mp3 : .mp2 }
        }
        return nil
    }

    /// One header is chance (one in a few hundred): frames must follow on each other as far as the bytes go.
    private static let framesInARow = 3

    private static func layerOfRun(_ first: FirstBytes, at start: Int) -> Int? {
        guard let head = header(first, at: start) else { return nil }
        var offset = start
        for count in 1...framesInARow {
            guard let frame = header(first, at: offset), frame.matches(head), let bytes = frame.frameBytes else {
                return nil
            }
            offset += bytes
            // Too few bytes to see a second frame is too little to say.
            if offset + 4 > first.count { return count > 1 ? head.layer : nil }
        }
        return head.layer
    }

    private static func header(_ first: FirstBytes, at offset: Int) -> MPEGAudioHeader? {
        MPEGAudioHeader(UInt32(truncatingIfNeeded: first.bigEndian32(at: offset)))
    }

    private static func isADTS(_ first: FirstBytes, at start: Int) -> Bool {
        var offset = start
        for count in 1...framesInARow {
            guard let bytes = adtsFrameBytes(first, at: offset) else { return false }
            offset += bytes
            if offset + 7 > first.count { return count > 1 }
        }
        return true
    }

    /// Source: ISO/IEC 13818-7, 6.2.
    private static func adtsFrameBytes(_ first: FirstBytes, at offset: Int) -> Int? {
        guard first[offset] == 0xFF, first[offset + 1] & 0xF6 == 0xF0 else { return nil }
        let sampleRateIndex = first[offset + 2] >> 2 & 0x0F
        let bytes =
            Int(first[offset + 3] & 3) << 11 | Int(first[offset + 4]) << 3 | Int(first[offset + 5]) >> 5
        return sampleRateIndex < 13 && bytes > 7 ? bytes : nil
    }
}
