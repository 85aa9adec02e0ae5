import CLibAV
import SafeArithmetic

/// One demuxed or encoded packet; owns its AVPacket.
@safe package final class Packet {
    let raw: UnsafeMutablePointer<AVPacket>

    package init() throws(LibAVError) {
        unsafe raw = unsafe try LibAVError.allocated(av_packet_alloc(), operation: "av_packet_alloc")
    }

    deinit {
        var released: UnsafeMutablePointer<AVPacket>? = unsafe raw
        unsafe av_packet_free(&released)
    }

    /// A second reference to the same bytes.
    package func reference() throws(LibAVError) -> Packet {
        let copy = try Packet()
        try copy.refer(to: self)
        return copy
    }

    /// Drops its bytes and refers to those of another packet.
    package func refer(to other: Packet) throws(LibAVError) {
        clear()
        unsafe try LibAVError.check(av_packet_ref(raw, other.raw), of: "av_packet_ref")
    }

    /// A packet with a copy of these bytes, without flags or times: for decoders of whole files.
    package static func holding(_ bytes: [UInt8]) throws(LibAVError) -> Packet {
        guard let size = CInt(exactly: bytes.count) else {
            throw LibAVError(code: CLibAV_errorInvalidArgument, operation: "av_new_packet")
        }
        let packet = try Packet()
        unsafe try LibAVError.check(av_new_packet(packet.raw, size), of: "av_new_packet")
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
    /// Whether all bytes are zero: padding after the audio data, which some demuxers return as a packet.
    package var isZeros: Bool {
        unsafe UnsafeBufferPointer(start: raw.pointee.data, count: byteCount).allSatisfy { $0 == 0 }
    }
    package var isKeyframe: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    /// Whether an edit list excludes it: it is decoded but not shown.
    package var isDiscarded: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }
    /// Whether the demuxer read fewer bytes than the container declared.
    package var isCorrupt: Bool { unsafe raw.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 }

    /// The decoder configuration that is valid from this packet on, where the container changes it.
    package var newConfiguration: [UInt8]? {
        var size = 0
        guard let bytes = unsafe av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, &size) else { return nil }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: size))
    }

    /// Calls `body` with the packet's bytes.
    package func withBytes<Result>(_ body: (RawSpan) throws -> Result) rethrows -> Result {
        try body(unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: raw.pointee.data, count: byteCount)))
    }
}

/// The length of a stream's tick as a fraction of a second.
package struct TimeBase: Sendable, Hashable {
    package let numerator: Int32
    package let denominator: Int32

    init(_ rational: AVRational) {
        numerator = rational.num
        denominator = rational.den
    }

    package init(numerator: Int32, denominator: Int32) {
        self.numerator = numerator
        self.denominator = denominator
    }

    var rational: AVRational { AVRational(num: numerator, den: denominator) }

    /// Maximum time in seconds, about three centuries: larger values are hostile and would overflow counts of ticks or
    /// samples.
    package static let secondsMax = 1e10

    /// Converts ticks to seconds, clamped to ±`secondsMax`.
    package func seconds(_ ticks: Int64) -> Double { (Double(ticks) * tick).mediaSeconds }

    /// Length of one tick in seconds.
    package var tick: Double { denominator == 0 ? 0 : Double(numerator) / Double(denominator) }

    /// The tick at or before a time in seconds, clamped to the representable range.
    package func ticks(_ seconds: Double) -> Int64 {
        guard tick > 0, seconds.isFinite else { return seconds > 0 ? Int64.max / 4 : Int64.min / 4 }
        return Int64(clamping: max(-1e17, min(1e17, (seconds / tick).rounded(.down))))
    }
}

extension Double {
    /// The value clamped to ±`TimeBase.secondsMax`.
    var mediaSeconds: Double { max(-TimeBase.secondsMax, min(TimeBase.secondsMax, self)) }
}

extension Int64 {
    /// Maximum valid timestamp: larger values are hostile and would overflow sums.
    private static let timestampMax: Int64 = 1 << 60

    /// The timestamp; nil for libav's "no timestamp" and for values out of range.
    var timestamp: Int64? { magnitude > Self.timestampMax.magnitude ? nil : self }

    /// The value as a duration, clamped to 0...`timestampMax`.
    var span: Int64 { Swift.max(0, Swift.min(self, Self.timestampMax)) }
}

extension AVRational {
    /// The fraction's value; nil for 0/0, infinity and values that are not positive.
    var positive: Double? { num > 0 && den > 0 ? Double(num) / Double(den) : nil }
}
