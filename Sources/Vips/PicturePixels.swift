import CVips

/// A picture's pixels as numbers.
extension Picture {
    /// Lends the pixels of a picture in memory: `height` rows of `width` x `bands` bytes, without padding.
    package func withPixels<Result>(_ body: (RawSpan) throws -> Result) throws -> Result {
        let held = try inMemory()
        // Bounded: the picture is in memory.
        let count = held.width * held.height * held.loadedPages * held.bands
        guard unsafe vips_image_get_format(held.pointer) == VIPS_FORMAT_UCHAR,
            let start = unsafe vips_image_get_data(held.pointer)
        else { throw VipsError("get_data") }
        defer { withExtendedLifetime(held) {} }
        return try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
    }

    /// Mean over all pixels and bands of the squared difference, in squared steps of 8 bits; 0 is the same picture.
    package func meanSquaredDifference(from other: Picture) throws -> Double {
        let difference = try derive("subtract") { out in unsafe CVips_subtract(pointer, other.pointer, out) }
        let squared = try difference.derive("multiply") { out in
            unsafe CVips_multiply(difference.pointer, difference.pointer, out)
        }
        var mean = 0.0
        try check(unsafe CVips_avg(squared.pointer, &mean), "avg")
        return mean
    }

    /// Its first band alone, as grey, with the alpha where there is one; for pictures whose colour bands are equal.
    package func asGrey() throws -> Picture {
        let grey = try band(0)
        let labelled = try grey.derive("copy") { out in
            unsafe CVips_copy_as(grey.pointer, out, VIPS_INTERPRETATION_B_W)
        }
        guard hasAlpha else { return labelled }
        // Bounded: a picture with alpha has bands.
        let alpha = try band(bands - 1)
        return try labelled.derive("bandjoin") { out in unsafe CVips_bandjoin2(labelled.pointer, alpha.pointer, out) }
    }

    /// Laid on grey where it is transparent; `grey` is from 0 to 255.
    package func flattened(onGrey grey: Double) throws -> Picture {
        guard hasAlpha else { return self }
        return try derive("flatten") { out in unsafe CVips_flatten(pointer, out, grey) }
    }

    private func band(_ index: Int) throws -> Picture {
        try derive("extract_band") { out in unsafe CVips_extract_bands(pointer, out, CInt(clamping: index), 1) }
    }
}
