internal import AttachPrep
package import Tracing

/// The identity of a span, as the headers `traceparent` and `tracestate` carry it between processes.
///
/// <https://www.w3.org/TR/trace-context/>
package struct TraceContext: Sendable, Hashable {
    /// 16 bytes, in two halves; not zero.
    package struct TraceID: Sendable, Hashable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) {
            (self.high, self.low) = (high, low)
        }

        /// A random id; one part is odd, so that the id is not zero.
        static func random() -> TraceID { TraceID(high: .random(in: 0 ... .max), low: .random(in: 1 ... .max)) }
    }

    package var traceID: TraceID
    /// Not zero.
    package var spanID: UInt64
    /// Whether the span is recorded and sent; its children follow it, unless the sampler decides otherwise.
    package var isSampled: Bool
    /// The `tracestate` of the caller, unchanged; empty without one.
    package var state: String
    /// Whether the span belongs to another process.
    package var isRemote: Bool

    package init(traceID: TraceID, spanID: UInt64, isSampled: Bool, state: String = "", isRemote: Bool = false) {
        (self.traceID, self.spanID, self.isSampled) = (traceID, spanID, isSampled)
        (self.state, self.isRemote) = (state, isRemote)
    }
}

// MARK: Headers

extension TraceContext {
    package static let parentHeader = "traceparent"
    package static let stateHeader = "tracestate"

    /// Reads the headers of a request, which anyone may have sent.
    ///
    /// - Parameter state: an invalid one is ignored, as the specification requires.
    /// - Returns: Nil for an invalid `traceparent`; then the request starts a new trace.
    package init?(parent: String, state: String?) {
        let bytes = Array(parent.utf8)
        guard bytes.count >= Self.parentBytes, bytes[2] == Self.dash, bytes[35] == Self.dash, bytes[52] == Self.dash,
            let version = Self.number(bytes[0..<2]), let high = Self.number(bytes[3..<19]),
            let low = Self.number(bytes[19..<35]), let spanID = Self.number(bytes[36..<52]),
            let flags = Self.number(bytes[53..<55])
        else { return nil }
        // A later version may be longer; its first four fields keep their meaning.
        let isWhole =
            version == 0
            ? bytes.count == Self.parentBytes : bytes.count == Self.parentBytes || bytes[55] == Self.dash
        guard isWhole, version != 0xff, high != 0 || low != 0, spanID != 0 else { return nil }
        self.init(
            traceID: TraceID(high: high, low: low), spanID: spanID, isSampled: flags & 1 == 1,
            state: state.flatMap(TraceState.valid) ?? "", isRemote: true)
    }

    /// The value of `traceparent`, of version 00.
    package var parent: String { "00-\(traceID)-\(spanHexadecimal)-0\(isSampled ? 1 : 0)" }

    package var spanHexadecimal: String { Self.hexadecimal(spanID) }

    private static let dash = UInt8(ascii: "-")
    /// `00-` trace id `-` span id `-` flags.
    private static let parentBytes = 55

    /// Nil for anything but lowercase hexadecimal digits, at most 16.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit & 0xf)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit & 0xf) + 9
            default: return nil
            }
        }
        return number
    }

    fileprivate static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// As 32 lowercase hexadecimal digits.
extension TraceContext.TraceID: CustomStringConvertible {
    package var description: String { TraceContext.hexadecimal(high) + TraceContext.hexadecimal(low) }
}

/// The header `tracestate`: entries of tracing systems, which attachprep hands on without reading their values.
enum TraceState {
    /// The entries of a header, or nil when one is invalid. Entries over the limit of bytes are removed from the end.
    static func valid(_ text: String) -> String? {
        let entries = text.split(separator: ",").map(\.trimmingSpaces).filter { !$0.isEmpty }
        let keys = entries.map { $0.prefix { $0 != "=" } }
        guard entries.count <= entriesMax, entries.allSatisfy(isEntry), Set(keys).count == keys.count else {
            return nil
        }
        var (kept, bytes) = ("", 0)
        for entry in entries {
            bytes += entry.utf8.count + 1
            guard bytes <= bytesMax + 1 else { break }
            kept += kept.isEmpty ? entry : ",\(entry)"
        }
        return kept
    }

    private static let entriesMax = 32
    /// What the specification asks every system to hand on.
    private static let bytesMax = 512

    private static func isEntry(_ entry: Substring) -> Bool {
        guard let separator = entry.firstIndex(of: "=") else { return false }
        let (key, value) = (entry[..<separator].utf8, entry[separator...].utf8.dropFirst())
        return 1...256 ~= key.count && 1...256 ~= value.count && key.allSatisfy(isKeyByte)
            && value.allSatisfy { 0x20...0x7e ~= $0 && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "_-*/@".utf8.contains(byte)
        }
    }
}

// MARK: The task's context

extension ServiceContext {
    private enum Key: ServiceContextKey {
        typealias Value = TraceContext
    }

    /// The span in which a task works; nil outside of a trace.
    package var trace: TraceContext? {
        get { self[Key.self] }
        set { self[Key.self] = newValue }
    }
}
