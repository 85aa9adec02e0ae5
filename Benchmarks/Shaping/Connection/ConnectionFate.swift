import NIOCore

/// What happens to every connection after so many bytes towards the phone, headers included.
public enum ConnectionFate: Sendable, Hashable {
    case none
    /// Nothing more arrives, and the connection stays.
    case stall(afterBytes: Int)
    /// The connection is gone.
    case cut(afterBytes: Int)
}

/// How far a connection is from its fate.
struct FateGauge {
    private let fate: ConnectionFate
    private var bytesLeft: Int

    init(_ fate: ConnectionFate) {
        self.fate = fate
        bytesLeft =
            switch fate {
            case .none: .max
            case .stall(let bytes), .cut(let bytes): bytes
            }
    }

    var isReached: Bool { bytesLeft == 0 }

    var isCut: Bool {
        if case .cut = fate { isReached } else { false }
    }

    /// What of these bytes still arrives.
    mutating func pass(_ bytes: ByteBuffer) -> ByteBuffer {
        let part = bytes.getSlice(at: bytes.readerIndex, length: min(bytesLeft, bytes.readableBytes)) ?? bytes
        if fate != .none { bytesLeft -= part.readableBytes }
        return part
    }
}
