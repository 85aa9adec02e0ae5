import Foundation
import SafeArithmetic

/// Where a sound ends before its source does, and how it fades out there.
struct SoundCut: Sendable, Hashable {
    /// Samples that are kept.
    let end: Int
    /// Samples over which it fades.
    let fade: Int

    /// How loud a sample is, from 0 to 1.
    func gain(at sample: Int) -> Float {
        if sample >= end { return 0 }
        if fade <= 0 || sample < end.subtracting(clamping: fade) { return 1 }
        return Float(0.5 - 0.5 * cos(.pi * Double(end.subtracting(clamping: sample)) / Double(fade)))
    }
}
