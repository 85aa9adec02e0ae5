import LibAV

/// A decoder's frames, handed on as they come.
struct FrameOutput {
    /// A decoder that fails so often without a frame between will never give one.
    private static let failuresMax = 64

    private let decoder: Decoder

    init(_ decoder: Decoder) { self.decoder = decoder }

    /// Sends a packet, or nil for the end, and hands on each frame that comes out until `use` says no. A packet that
    /// does not decode is stepped over: the ones after it may.
    func feed(_ packet: Packet?, use: (Frame) -> Bool) throws {
        do { _ = try decoder.send(packet) } catch { if error.isOutOfMemory { throw error } }
        var failures = 0
        while failures < Self.failuresMax {
            let frame = try Frame()
            do {
                if try decoder.receive(into: frame) != .frame { return }
                if !use(frame) { return }
            } catch {
                if error.isOutOfMemory { throw error }
                failures += 1
            }
        }
    }
}
