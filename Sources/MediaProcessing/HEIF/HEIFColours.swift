import JPEG
import LibAV
import RichPush

/// How the components of a HEIF become those of a JPEG in sRGB.
struct HEIFColours {
    private let isFullRange: Bool
    /// Nil where luma and chroma mean what they mean in a JPEG.
    private let turn: ColourTurn?

    /// Nil for numbers that are no luma and chroma, and for a profile that is more than primaries and curves.
    ///
    /// libheif takes what the file says before what the coded picture says, and BT.601 for what nobody says.
    init?(_ heif: PlainHEIF, _ coding: Frame.Coding, _ window: ByteWindow) throws {
        isFullRange = heif.numbers?.isFullRange ?? coding.isFullRange
        guard let matrix = LumaWeights(code: heif.numbers?.matrix ?? coding.matrix) else { return nil }
        let bytes = try heif.profile.map { try window.all(in: $0) }
        let profile = bytes.flatMap { ICCProfile.isSRGB($0) ? nil : $0 }
        guard let profile else {
            turn = matrix == .jpeg ? nil : ColourTurn(from: matrix, profile: nil)
            return
        }
        guard let primaries = DisplayProfile(profile) else { return nil }
        turn = ColourTurn(from: matrix, profile: primaries)
    }

    func inSRGB(_ planes: [JPEGPlane]) -> [JPEGPlane] {
        let full = isFullRange ? planes : SampleRange.full(planes)
        // Grey is grey in all of them, but for the curve, which is sRGB's with every display of today.
        guard full.count == 3, let turn else { return full }
        return turn.apply(full)
    }
}
