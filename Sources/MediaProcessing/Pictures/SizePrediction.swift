import Foundation

/// How many bytes a picture takes at which size, from the tries that were made.
struct SizePrediction {
    /// Files grow more slowly than areas do: the usual power of a side.
    private static let usualPower = 1.75

    private var tries: [(scale: Double, bytes: Double)]

    /// - Parameter bytes: Of the whole picture.
    init(whole bytes: Double) { tries = [(1, max(1, bytes))] }

    mutating func learn(scale: Double, bytes: Double) { tries.append((scale, max(1, bytes))) }

    /// The factor of both sides, by the two tries nearest to those bytes.
    func scale(forBytes target: Double) -> Double {
        let sorted = tries.sorted { abs(log($0.bytes / target)) < abs(log($1.bytes / target)) }
        let first = sorted[0]
        var power = Self.usualPower
        if sorted.count > 1, abs(log(sorted[1].scale / first.scale)) > 1e-3 {
            power = min(max(log(sorted[1].bytes / first.bytes) / log(sorted[1].scale / first.scale), 1), 2.5)
        }
        return first.scale * pow(target / first.bytes, 1 / power)
    }
}
