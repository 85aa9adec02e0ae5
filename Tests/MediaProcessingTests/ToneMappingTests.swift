import LibAV
import MediaProcessing
import Testing

@Suite struct ToneMappingTests {
    private func grey(_ code: UInt16, _ map: ToneMap) -> [UInt8] {
        map.sRGB(ofRGB16: (0..<3).flatMap { _ in [UInt8(code & 0xFF), UInt8(code >> 8)] })
    }

    @Test(arguments: [StreamDescription.Transfer.perceptualQuantizer, .hybridLogGamma])
    func `black stays black and the peak becomes white`(transfer: StreamDescription.Transfer) {
        let map = ToneMap(transfer)
        #expect(grey(0, map) == [0, 0, 0])
        // PQ's code for 1,000 nits; HLG's highest.
        let peak = transfer == .hybridLogGamma ? UInt16.max : UInt16(0.7518 * 65_535)
        #expect(grey(peak, map).allSatisfy { $0 >= 253 })
    }

    @Test func `brighter never comes out darker`() {
        let map = ToneMap(.perceptualQuantizer)
        let ramp = stride(from: 0, through: 65_535, by: 257).map { grey(UInt16($0), map)[1] }
        #expect(zip(ramp, ramp.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `diffuse white of 203 nits stays bright`() {
        let white = grey(UInt16(0.5807 * 65_535), ToneMap(.perceptualQuantizer))[0]
        #expect((190...235).contains(white))
    }

    @Test func `a grey pixel stays grey`() {
        let pixel = grey(30_000, ToneMap(.hybridLogGamma))
        #expect(pixel.max().map(Int.init).flatMap { most in pixel.min().map { most - Int($0) } } ?? 9 <= 1)
    }
}
