import LibAV
import RichPush

/// One group of pictures on its way through a decoder.
final class GroupDecoding {
    /// Calls that may fail in a row before a decoder counts as stuck.
    private static let failuresMax = 16

    /// What came out of a group of pictures.
    struct Outcome {
        var pictures = 0
        var troubles = 0
        /// Whether the first picture of all leans on others; nil before it came.
        var isBaseless: Bool?
        /// The picture that was wanted.
        var found: Frame?

        var isDamaged: Bool { pictures == 0 || troubles > 0 && isBaseless != true }
        /// Whether nothing at all speaks against what came out.
        var isFlawless: Bool { pictures > 0 && troubles == 0 && isBaseless == false }
    }

    private let decoder: Decoder
    private let budget: ProofBudget
    /// The picture to be taken; may be told while the group is under way, before its packet.
    var wanted: WantedFrame?
    private let frame: Frame
    private(set) var outcome = Outcome()

    /// - Parameter isSmooth: Whether edges are smoothed in the pictures before the one that is wanted.
    init(_ decoder: Decoder, budget: ProofBudget, wanted: WantedFrame? = nil, isSmooth: Bool = false) throws {
        self.decoder = decoder
        self.budget = budget
        self.wanted = wanted
        frame = try Frame()
        // The bits are what is to be proved.
        decoder.skipsLoopFilter = !isSmooth
    }

    /// Decodes packets that are proved by it.
    ///
    /// - Parameter skipsNonReference: Whether pictures that no other one needs are left out.
    func prove(_ packets: some Sequence<Packet>, skipsNonReference: Bool) throws {
        for packet in packets {
            try budget.check()
            try send(packet, skipsNonReference: skipsNonReference)
        }
    }

    /// Decodes on to the frame that is wanted, which proves nothing; leaves it when the proofs' time is half over.
    func reach(_ packets: some Sequence<Packet>) throws {
        for packet in packets {
            if budget.isHalfSpent { return }
            try send(packet, skipsNonReference: true)
        }
    }

    /// Forgets what came out so far, not what was learned from it.
    func forget() { (outcome.pictures, outcome.troubles) = (0, 0) }

    /// Takes what the decoder still holds, and leaves it as it was before.
    func finish() -> Outcome {
        defer { decoder.flush() }
        feed(nil)
        return outcome
    }

    private func send(_ packet: Packet, skipsNonReference: Bool) throws {
        let isWanted = wanted.map { packet.presentationTimestamp == $0.tick } ?? false
        decoder.skipsNonReference = skipsNonReference && !isWanted
        if isWanted { decoder.skipsLoopFilter = false }
        feed(packet)
        if isWanted { decoder.skipsLoopFilter = true }
    }

    /// Sends one packet, or nil for the end, and takes what comes out.
    private func feed(_ packet: Packet?) {
        do { _ = try decoder.send(packet) } catch { outcome.troubles += 1 }
        var failures = 0
        while failures < Self.failuresMax {
            do {
                if try decoder.receive(into: frame) != .frame { return }
                try take()
            } catch {
                failures += 1
                outcome.troubles += 1
            }
        }
    }

    private func take() throws(LibAVError) {
        // A keyframe that is none, whatever the container says: nothing can be proved from it.
        outcome.isBaseless = outcome.isBaseless ?? frame.isPredicted
        outcome.pictures += 1
        if frame.isConcealed { outcome.troubles += 1 }
        guard let wanted, frame.presentationTimestamp == wanted.tick else { return }
        let found = try Frame()
        found.take(frame)
        outcome.found = found
    }
}
