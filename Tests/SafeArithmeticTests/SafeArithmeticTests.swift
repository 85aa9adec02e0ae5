import Testing

@testable import SafeArithmetic

/// Arithmetic on untrusted numbers never traps.
@Suite struct SafeArithmeticTests {
    private let extremes = [Int.min, Int.min + 1, -7, -1, 0, 1, 2, 9, Int.max - 1, Int.max]

    @Test func `Exact operations return nil exactly where the operators would trap`() {
        for a in extremes {
            for b in extremes {
                let (sum, sumOverflows) = a.addingReportingOverflow(b)
                #expect(a.adding(exactly: b) == (sumOverflows ? nil : sum))
                let (product, productOverflows) = a.multipliedReportingOverflow(by: b)
                #expect(a.multiplied(exactly: b) == (productOverflows ? nil : product))
            }
        }
    }

    /// `Int128` holds every result of two 64-bit numbers.
    @Test func `Clamping operations return the nearest representable value`() {
        func nearest(_ value: Int128) -> Int { Int(clamping: value) }
        for a in extremes {
            for b in extremes {
                #expect(a.adding(clamping: b) == nearest(Int128(a) + Int128(b)))
                #expect(a.subtracting(clamping: b) == nearest(Int128(a) - Int128(b)))
                #expect(a.multiplied(clamping: b) == nearest(Int128(a) * Int128(b)))
            }
        }
    }

    @Test func `Unsigned numbers clamp at zero`() {
        #expect(UInt8(3).subtracting(clamping: 5) == 0)
        #expect(UInt8(200).adding(clamping: 100) == 255)
        #expect(UInt8(200).multiplied(clamping: 2) == 255)
    }

    @Test func `Every floating-point number converts to an integer`() {
        #expect(Int(clamping: Double.nan) == 0)
        #expect(Int(clamping: Double.infinity) == .max)
        #expect(Int(clamping: -Double.infinity) == .min)
        #expect(Int(clamping: 1e300) == .max)
        #expect(Int(clamping: -1e300) == .min)
        #expect(Int(clamping: 2.9) == 2)
        #expect(Int(clamping: -2.9) == -2)
        #expect(Int(clamping: 9_223_372_036_854_775_807.0) == .max)
        #expect(UInt8(clamping: -0.5) == 0)
        #expect(UInt8(clamping: 255.9) == 255)
        #expect(UInt8(clamping: Float(256)) == 255)
        #expect(UInt32(clamping: -1.0) == 0)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e300, -1e300, .leastNonzeroMagnitude])
    func `Any number of seconds can be added to an instant`(seconds: Double) {
        let span = Duration.seconds(clamping: seconds)
        #expect(span <= .longest && span >= .zero - .longest)
        _ = ContinuousClock.now + span + span
    }

    @Test(arguments: [Int.min, -1, 0, 1, Int.max])
    func `Any whole number of seconds or milliseconds can be added to an instant`(number: Int) {
        _ = ContinuousClock.now + .seconds(clamping: number) + .milliseconds(clamping: number)
        #expect(Duration.seconds(clamping: number) <= .longest)
        #expect(Duration.milliseconds(clamping: number) <= .longest)
    }
}
