import LibAV

/// Proves that all packets of a sound decode, as far as time allows: what is copied is not to be broken inside.
final class PacketProof {
    private let decoder: Decoder
    private let frame: Frame
    private let budget: ProofBudget

    init(_ stream: StreamDescription, of demuxer: Demuxer, clock: WorkClock) throws {
        decoder = try Decoder.open(stream: stream.index, of: demuxer, pixelsMax: 1)
        frame = try Frame()
        budget = ProofBudget(clock)
    }

    /// - Throws: `LibAVError` when the packet does not decode.
    func take(_ packet: Packet) throws {
        try budget.spend {
            try budget.check()
            _ = try decoder.send(packet)
            while try decoder.receive(into: frame) == .frame {}
        }
    }
}
