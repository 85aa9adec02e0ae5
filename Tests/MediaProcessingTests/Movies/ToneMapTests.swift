import MediaLibraries
import MediaProcessing
import Testing

@Suite struct ToneMapTests {
    private func gray(_ code: UInt16, _ map: ToneMap) -> [UInt8] {
        map.sRGB(ofRGB16: (0..<3).flatMap { _ in [UInt8(code & 0xFF), UInt8(code >> 8)] })
    }

    @Test(arguments: [StreamDescription.TransferFunction.perceptualQuantizer, .hybridLogGamma])
    func `Black stays black and the peak becomes white`(transfer: StreamDescription.TransferFunction) {
        let map = ToneMap(transfer)
        #expect(gray(0, map) == [0, 0, 0])
        // PQ: the code for 1,000 nits; HLG: the highest code.
        let peak = transfer == .hybridLogGamma ? UInt16.max : UInt16(0.7518 * 65_535)
        #expect(gray(peak, map).allSatisfy { $0 >= 253 })
    }

    @Test func `Brighter input is never mapped to darker output`() {
        let map = ToneMap(.perceptualQuantizer)
        let ramp = stride(from: 0, through: 65_535, by: 257).map { gray(UInt16($0), map)[1] }
        #expect(zip(ramp, ramp.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `Diffuse white of 203 nits stays bright`() {
        let white = gray(UInt16(0.5807 * 65_535), ToneMap(.perceptualQuantizer))[0]
        #expect((190...235).contains(white))
    }

    @Test func `A gray pixel stays gray`() {
        let pixel = gray(30_000, ToneMap(.hybridLogGamma))
        #expect(pixel.max().map(Int.init).flatMap { highest in pixel.min().map { highest - Int($0) } } ?? 9 <= 1)
    }
}
