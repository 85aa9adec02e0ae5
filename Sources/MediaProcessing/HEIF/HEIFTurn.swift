import RichPush

/// How a HEIF's picture is turned and mirrored, step by step, until it stands upright.
///
/// Source: ISO/IEC 23008-12, 6.5.10 (`irot`) and 6.5.12 (`imir`).
struct HEIFTurn {
    /// Mirrored left to right first, then turned clockwise by so many quarters, from 0 to 3.
    private var isMirrored = false
    private var quarters = 0

    /// Nil for what is cut as well.
    init?(_ properties: [HEIFItems.Property], _ window: ByteWindow) throws {
        for property in properties {
            switch property.type {
            case "irot":
                // Against the clock.
                let turns = Int(clamping: try window.byte(at: property.content.lowerBound))
                quarters = (quarters &- turns) & 3
            case "imir":
                // The first edition meant it the other way round; libheif, libavif and writers follow the second.
                let isUpDown = try window.byte(at: property.content.lowerBound) & 1 == 0
                isMirrored.toggle()
                // Mirroring what was turned is turning the other way what was mirrored; up and down is half a turn
                // more.
                quarters = ((isUpDown ? 2 : 0) &- quarters) & 3
            case "clap": return nil
            default: break
            }
        }
    }

    var orientation: Orientation {
        switch (isMirrored, quarters) {
        case (false, 0): .upright
        case (false, 1): .rotated90
        case (false, 2): .rotated180
        case (false, _): .rotated270
        case (true, 0): .mirrored
        case (true, 1): .transversed
        case (true, 2): .mirroredRotated180
        case (true, _): .transposed
        }
    }
}
