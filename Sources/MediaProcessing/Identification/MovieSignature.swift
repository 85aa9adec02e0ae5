package import RichPush

/// Movies by the bytes their files begin with.
package enum MovieSignature {
    /// The movie format these bytes begin, or nil.
    package static func format(of first: FirstBytes) -> MediaFormat? {
        if first.has("RIFF"), first.has("AVI ", at: 8) { return .avi }
        return table.first { first.has($0.signature) }?.format ?? elementaryFormat(of: first)
            ?? matroskaFormat(of: first) ?? transportFormat(of: first)
    }

    private static let table: [(signature: [UInt8], format: MediaFormat)] = [
        ([0x00, 0x00, 0x01, 0xBA], .mpegProgramStream),
        ([0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], .windowsMedia),
        (Array("FLV".utf8) + [0x01], .flashVideo),
        ([0x06, 0x0E, 0x2B, 0x34, 0x02, 0x05, 0x01, 0x01], .mxf),
        ([0x1F, 0x07, 0x00], .digitalVideo),
        (Array(".RMF".utf8), .realMedia),
        (Array("FWS".utf8), .flash),
        (Array("CWS".utf8), .flash),
        (Array("ZWS".utf8), .flash),
    ]

    /// MPEG-2 follows the sequence header with an extension (00 00 01 B5), MPEG-1 does not.
    private static func elementaryFormat(of first: FirstBytes) -> MediaFormat? {
        guard first.has([0x00, 0x00, 0x01, 0xB3]) else { return nil }
        let header = 12..<200
        return header.contains { first.has([0x00, 0x00, 0x01, 0xB5], at: $0) } ? .mpeg2Video : .mpeg1Video
    }

    private static func matroskaFormat(of first: FirstBytes) -> MediaFormat? {
        guard first.has([0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
        return first.contains("webm", within: 64) ? .webm : .matroska
    }

    /// A sync byte every 188 bytes, or every 192 with a time code in front.
    private static func transportFormat(of first: FirstBytes) -> MediaFormat? {
        let layouts = [(start: 0, packet: 188), (start: 4, packet: 192)]
        let isTransport = layouts.contains { layout in
            // Bounded: five packets.
            (0..<5).allSatisfy { first[layout.start + $0 * layout.packet] == 0x47 }
        }
        return isTransport ? .mpegTransportStream : nil
    }
}
