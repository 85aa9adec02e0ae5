import CLibAV

/// One demuxed packet; owns its AVPacket.
@safe package final class Packet {
    let raw: UnsafeMutablePointer<AVPacket>

    package init() throws(LibAVError) {
        unsafe raw = unsafe try LibAVError.allocated(av_packet_alloc(), "av_packet_alloc")
    }

    deinit {
        var released: UnsafeMutablePointer<AVPacket>? = unsafe raw
        unsafe av_packet_free(&released)
    }

    /// A second reference to the same bytes.
    package func reference() throws(LibAVError) -> Packet {
        let copy = try Packet()
        unsafe try LibAVError.check(av_packet_ref(copy.raw, raw), "av_packet_ref")
        return copy
    }

    /// A packet of our own bytes, key, at time 0: for decoders of whole files.
    package static func holding(_ bytes: [UInt8]) throws(LibAVError) -> Packet {
        guard let size = CInt(exactly: bytes.count) else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "av_new_packet")
        }
        let packet = try Packet()
        unsafe try LibAVError.check(av_new_packet(packet.raw, size), "av_new_packet")
        unsafe UnsafeMutableRawPointer(packet.raw.pointee.data).copyMemory(
            from: bytes.withUnsafeBytes { unsafe $0.baseAddress ?? UnsafeRawPointer(packet.raw.pointee.data) },
            byteCount: bytes.count)
        return packet
    }

    package func clear() { unsafe av_packet_unref(raw) }

    package var streamIndex: Int { Int(clamping: unsafe raw.pointee.stream_index) }
    /// Ticks of the stream's time base.
    package var presentationTimestamp: Int64? {
        get { unsafe raw.pointee.pts.timestamp }
        set { unsafe raw.pointee.pts = newValue ?? CLibAV_noTimestamp }
    }
    package var decodingTimestamp: Int64? {
        get { unsafe raw.pointee.dts.timestamp }
        set { unsafe raw.pointee.dts = newValue ?? CLibAV_noTimestamp }
    }
    package var duration: Int64 {
        get { unsafe raw.pointee.duration.span }
        set { unsafe raw.pointee.duration = newValue }
    }
    package var byteCount: Int { max(0, Int(clamping: unsafe raw.pointee.size)) }
    /// Whether no bit is set: padding behind a sound, which some demuxers deliver as if it were one.
    package var isZeros: Bool {
        unsafe UnsafeBufferPointer(start: raw.pointee.data, count: byteCount).allSatisfy { $0 == 0 }
    }
    package var isKeyframe: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Whether an edit list cuts it away: decoded, never shown.
    package var isDiscarded: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    /// Whether the demuxer got fewer bytes than the container declared.
    package var isCorrupt: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// Lends its bytes.
    package func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: raw.pointee.data, count: byteCount)))
    }

    /// A copy of its bytes.
    package var bytes: [UInt8] {
        unsafe Array(UnsafeBufferPointer(start: raw.pointee.data, count: byteCount))
    }
}
