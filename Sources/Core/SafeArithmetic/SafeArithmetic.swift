/// Integer arithmetic that cannot trap, for numbers from outside the process.
///
/// Swift's `+`, `*`, `/` and `Int(_:)` end the process on overflow, a zero divisor or NaN, so they must not be used on
/// numbers from servers, files, messages or databases. Each operation here has two forms, named like the initializers
/// of the standard library: `clamping` returns the nearest representable value, `exactly` returns nil.
///
/// ```swift
/// let end = offset.adding(clamping: length)           // .max instead of a trap
/// guard let pixels = width.multiplied(exactly: height) else { throw .tooManyPixels }
/// let bits = Int(clamping: seconds * bitRate)         // 0 for NaN
/// ```
///
/// `Tests/TidyTests/ForeignNumberRules.swift` finds trapping operators in files that read external input.
extension FixedWidthInteger {
    /// The sum, or the nearest representable value.
    @inlinable
    package func adding(clamping other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }

    /// The sum; nil on overflow.
    @inlinable
    package func adding(exactly other: Self) -> Self? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }

    /// The difference, or the nearest representable value.
    @inlinable
    package func subtracting(clamping other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other < 0 ? .max : .min) : difference
    }

    /// The product, or the nearest representable value.
    @inlinable
    package func multiplied(clamping factor: Self) -> Self {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? ((self < 0) != (factor < 0) ? .min : .max) : product
    }

    /// The product; nil on overflow.
    @inlinable
    package func multiplied(exactly factor: Self) -> Self? {
        let (product, overflow) = multipliedReportingOverflow(by: factor)
        return overflow ? nil : product
    }

    /// The integer part of a floating-point number, or the nearest representable value; 0 for NaN.
    @inlinable
    package init<Source: BinaryFloatingPoint>(clamping source: Source) {
        guard !source.isNaN else {
            self = 0
            return
        }
        // Rounded first, because `init(exactly:)` accepts only whole numbers.
        self = Self(exactly: source.rounded(.towardZero)) ?? (source < 0 ? .min : .max)
    }
}
