import RichPush

/// Writes a WAV whose last chunk does not say how many samples it holds with a header that does; every sample stays.
struct WaveCompletion {
    private static let pieceBytes = 65_536

    /// Borrowed.
    let source: CInt
    let output: OutputFile
    let clock: WorkClock

    /// - Returns: Bytes of the file, at most one more than the source's: chunks have an even length.
    /// - Throws: `media.corrupt` when the header says how many there are, `output.no_space`, `deadline.exceeded`.
    func run() throws -> Int {
        let window = try ByteWindow(descriptor: source, noun: "WAV", deadline: clock.deadline)
        let walk = try WaveWalk.walk(window)
        guard let chunk = walk.openChunk else { throw window.broken("the samples are counted") }
        // Bounded throughout: places in the file.
        let start = chunk + 8
        let samples = (window.size - start) / walk.frameBytes * walk.frameBytes
        let size = start + samples + samples % 2
        guard size - 8 <= UInt32.max else { throw window.broken("more than 32 bits count") }
        for place in stride(from: 0, to: start + samples, by: Self.pieceBytes) {
            let count = min(Self.pieceBytes, start + samples - place)
            try output.write(Array(window.bytes(at: place, count: count)), at: place)
        }
        if samples % 2 == 1 { try output.write([0], at: size - 1) }
        try output.write(Self.littleEndian(UInt32(clamping: size - 8)), at: 4)
        try output.write(Self.littleEndian(UInt32(clamping: samples)), at: chunk + 4)
        return size
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        // Bounded: shifts within 32 bits.
        stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
    }
}
