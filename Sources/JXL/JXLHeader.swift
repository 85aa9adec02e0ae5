import CJXL
import SafeArithmetic

/// What the header of a JPEG XL declares.
package struct JXLHeader: Sendable, Hashable {
    /// The curve of the stored values.
    package enum TransferFunction: Sendable, Hashable {
        /// For SDR.
        case standard
        /// SMPTE ST 2084.
        case perceptualQuantizer
        /// ARIB STD-B67.
        case hybridLogGamma
    }

    /// The primaries of an image in PQ or HLG.
    package enum ColorPrimaries: Sendable, Hashable {
        case bt709, bt2020, displayP3
    }

    /// Bytes of an ICC profile; a larger one is ignored. In JPEG it cannot be larger.
    package static let profileBytesMax = 16_000_000

    /// Pixels of a frame, upright.
    package let width: Int
    package let height: Int
    package let hasAlpha: Bool
    /// Whether a component has more than 8 bits.
    package let isDeep: Bool
    /// Whether the file is declared an animation; it may still have a single frame.
    package let isAnimated: Bool
    /// Number of plays; 0 is infinite.
    package let loopCount: Int
    package let transfer: TransferFunction
    package let primaries: ColorPrimaries
    let isGray: Bool
    let usesOriginalProfile: Bool
    private let ticksPerSecond: Double

    /// - Parameter encoding: Nil for an image with an ICC profile.
    init(_ information: JxlBasicInfo, _ encoding: JxlColorEncoding?) {
        (width, height) = (Int(clamping: information.xsize), Int(clamping: information.ysize))
        hasAlpha = information.alpha_bits > 0
        isDeep = information.bits_per_sample > 8
        isAnimated = information.have_animation != 0
        loopCount = isAnimated ? Int(clamping: information.animation.num_loops) : 0
        isGray = information.num_color_channels == 1
        usesOriginalProfile = information.uses_original_profile != 0
        // Bounded: floating point; the denominator is at least 1.
        ticksPerSecond =
            Double(information.animation.tps_numerator) / Double(max(1, information.animation.tps_denominator))
        transfer =
            switch encoding?.transfer_function {
            case JXL_TRANSFER_FUNCTION_PQ: .perceptualQuantizer
            case JXL_TRANSFER_FUNCTION_HLG: .hybridLogGamma
            default: .standard
            }
        primaries =
            switch encoding?.primaries {
            case JXL_PRIMARIES_SRGB: .bt709
            case JXL_PRIMARIES_P3: .displayP3
            default: .bt2020
            }
    }

    /// Bits of a component of decoded pixels.
    package var sampleBits: Int { transfer == .standard ? 8 : 16 }

    /// Bytes of a decoded frame.
    package var frameBytes: Int {
        width.multiplied(clamping: height).multiplied(clamping: sampleBits / 2)
    }

    /// The seconds of a number of ticks.
    // Bounded: floating point.
    package func seconds(_ ticks: Int) -> Double { ticksPerSecond > 0 ? Double(ticks) / ticksPerSecond : 0 }

    var pixelFormat: JxlPixelFormat {
        JxlPixelFormat(
            num_channels: 4, data_type: sampleBits == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16,
            endianness: JXL_LITTLE_ENDIAN, align: 0)
    }
}

/// A layer of a JPEG XL, which is drawn over the layers before it.
package struct JXLLayer: Sendable, Hashable {
    /// Pixels of the layer, which may be larger than the image.
    package let width: Int
    package let height: Int
    /// How long the layers up to this one are shown; 0 for one that is shown with the next.
    package let ticks: Int
    package let isLast: Bool

    init(_ frame: JxlFrameHeader) {
        (width, height) = (Int(clamping: frame.layer_info.xsize), Int(clamping: frame.layer_info.ysize))
        ticks = Int(clamping: frame.duration)
        isLast = frame.is_last != 0
    }
}

/// A failed libjxl call and its status: for the log only.
package struct JXLError: Error, Sendable, Hashable {
    package let operation: String
    /// `JxlDecoderStatus`; 0 where a call has none.
    package let status: UInt32

    init(_ status: JxlDecoderStatus, _ operation: StaticString) {
        self.operation = "\(operation)"
        self.status = status.rawValue
    }

    init(_ operation: StaticString) { self.init(JXL_DEC_SUCCESS, operation) }

    /// Whether the file ends too early.
    package var isTruncated: Bool { status == JXL_DEC_NEED_MORE_INPUT.rawValue }
}

/// The version of libjxl.
package enum JXLLibrary {
    /// As `0.7.0`.
    package static var version: String {
        let number = JxlDecoderVersion()
        // Bounded: constants.
        return "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)"
    }
}

extension JxlColorEncoding {
    static func sRGB(isGray: Bool) -> JxlColorEncoding {
        var encoding = JxlColorEncoding()
        encoding.color_space = isGray ? JXL_COLOR_SPACE_GRAY : JXL_COLOR_SPACE_RGB
        encoding.white_point = JXL_WHITE_POINT_D65
        encoding.primaries = JXL_PRIMARIES_SRGB
        encoding.transfer_function = JXL_TRANSFER_FUNCTION_SRGB
        encoding.rendering_intent = JXL_RENDERING_INTENT_RELATIVE
        return encoding
    }

    /// Whether it is sRGB, or gray with its curve.
    var isSRGB: Bool {
        white_point == JXL_WHITE_POINT_D65 && transfer_function == JXL_TRANSFER_FUNCTION_SRGB
            && (color_space == JXL_COLOR_SPACE_GRAY
                || color_space == JXL_COLOR_SPACE_RGB && primaries == JXL_PRIMARIES_SRGB)
    }
}
