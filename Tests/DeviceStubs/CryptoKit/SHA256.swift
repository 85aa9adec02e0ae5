public import Foundation

/// The part of CryptoKit that the sample uses, so that it can be compiled and run on Linux. Implements FIPS 180-4.
public struct SHA256 {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var bytes: UInt64 = 0

    public init() {}

    public mutating func update(data: some DataProtocol) {
        bytes += UInt64(data.count)
        pending += data
        let end = pending.count / 64 * 64
        for start in stride(from: 0, to: end, by: 64) { digest(pending, from: start) }
        pending.removeFirst(end)
    }

    public func finalize() -> SHA256Digest {
        var copy = self
        let bits = bytes * 8
        let zeros = (119 - pending.count) % 64
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        copy.update(data: [0x80] + [UInt8](repeating: 0, count: zeros) + length)
        return SHA256Digest(
            bytes: copy.state.flatMap { word in
                (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
            })
    }

    private mutating func digest(_ block: [UInt8], from start: Int) {
        var words = [UInt32](repeating: 0, count: 64)
        for index in 0..<16 {
            words[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(block[start + index * 4 + $1]) }
        }
        for index in 16..<64 {
            let (a, b) = (words[index - 15], words[index - 2])
            let small = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
            let large = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
            words[index] = words[index - 16] &+ small &+ words[index - 7] &+ large
        }
        var s = state
        for index in 0..<64 {
            let choice = (s[4] & s[5]) ^ (~s[4] & s[6])
            let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])
            let high = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)
            let low = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)
            let one = s[7] &+ high &+ choice &+ Self.constants[index] &+ words[index]
            let two = low &+ majority
            (s[7], s[6], s[5], s[4]) = (s[6], s[5], s[4], s[3] &+ one)
            (s[3], s[2], s[1], s[0]) = (s[2], s[1], s[0], one &+ two)
        }
        for index in 0..<8 { state[index] &+= s[index] }
    }

    private func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = {
        var primes: [UInt64] = []
        var candidate: UInt64 = 2
        while primes.count < 64 {
            if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes.map(fractionOfCubeRoot)
    }()

    /// The largest integer whose cube is at most prime x 2^96, without its whole part: found bit by bit.
    private static func fractionOfCubeRoot(_ prime: UInt64) -> UInt32 {
        var root: UInt128 = 0
        for bit in (0..<36).reversed() {
            let tried = root | (1 << UInt128(bit))
            if tried * tried * tried <= UInt128(prime) << 96 { root = tried }
        }
        return UInt32(truncatingIfNeeded: root)
    }
}

/// The 32 bytes of a digest.
public struct SHA256Digest: Sequence, Sendable {
    fileprivate let bytes: [UInt8]

    public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}
