/// The first error in the data of a baseline scan.
enum ScanError: Error, Sendable, Hashable {
    /// A Huffman code that the table does not have, a difference of more than 11 bits, or coefficients beyond the end
    /// of a block.
    case invalidCode(mcu: Int)
    /// A DC coefficient that samples of 8 bits cannot give.
    case outOfRange
    /// The data ends before this MCU.
    case dataEnds(mcu: Int)
    /// Image data is left when all MCUs were decoded.
    case surplus
    /// Another marker than the expected one.
    case unexpectedMarker
    /// The file ends after the last MCU, without EOI.
    case endMissing
}

/// What a baseline scan has lost.
///
/// Each error is found: libjpeg-turbo takes coefficients beyond a block, impossible DC coefficients and data that is
/// left over for granted, although no encoder writes them.
extension BaselineScan {
    /// Restart markers that may be missing: with more of them, libjpeg-turbo, which counts from 0 to 7, may take a
    /// later one for an earlier one.
    private static let lostMarkersMax = 2

    // Bounded throughout: as in `BaselineScan`.

    /// The share of MCUs that libjpeg-turbo shows as they were, 0 to 1.
    ///
    /// With restart markers, an error ends with its interval. Without them, what follows an error is shown in the wrong
    /// place; so the share is 0 if the error shows only later than it was made.
    mutating func intactShare() -> Double {
        input.advance(past: 0)
        let intact = frame.restartInterval == 0 ? intactStart() : intactIntervals()
        return Double(intact) / Double(mcus)
    }

    private mutating func intactStart() -> Int {
        do throws(ScanError) {
            try decodeInterval(0..<mcus)
            return mcus
        } catch {
            switch error {
            case .invalidCode(let mcu): return mcu
            case .dataEnds(let mcu):
                // Before EOI, data is missing anywhere.
                if case .marker(0xD9) = input.continuation { return 0 }
                return mcu
            case .outOfRange, .surplus, .unexpectedMarker, .endMissing: return 0
            }
        }
    }

    private mutating func intactIntervals() -> Int {
        var (done, intact, lost, number) = (0, 0, 0, 0)
        while done < mcus {
            let run = intervalLength(at: done)
            do throws(ScanError) {
                try decodeInterval(done..<(done + run))
                intact += run
            } catch {
                input.skipToMarker()
            }
            done += run
            guard done < mcus else { break }
            guard case .marker(let marker) = input.continuation, (0xD0...0xD7).contains(marker) else {
                lost += (mcus - done) / frame.restartInterval
                break
            }
            let missing = (Int(marker) - 0xD0 - number) & 7
            lost += missing
            done += missing * frame.restartInterval
            number = (number + missing + 1) & 7
            restart()
        }
        if case .marker(0xD0...0xD7) = input.continuation { return 0 }
        // A file that ends early has lost its last intervals, and no others.
        if case .end = input.continuation { return intact }
        return lost <= Self.lostMarkersMax ? intact : 0
    }
}
