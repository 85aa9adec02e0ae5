package import RichPush

/// A movie's display matrix, reduced to one of the eight ways a picture can stand.
///
/// The matrix maps stored to displayed points as `x' = a x + c y`, `y' = b x + d y` (ISO/IEC 14496-12, 8.3.2).
/// Anything between two quarter turns goes to the nearer one; scale and position have no meaning here.
package func orientation(ofDisplayMatrix matrix: [Int32]?) -> Orientation {
    guard let matrix, matrix.count == 9 else { return .upright }
    let (a, b, c, d) = (
        Int64(clamping: matrix[0]), Int64(clamping: matrix[1]), Int64(clamping: matrix[3]), Int64(clamping: matrix[4])
    )
    if a == 0, b == 0, c == 0, d == 0 { return .upright }
    // Bounded: 32 bits each.
    if abs(a) + abs(d) >= abs(b) + abs(c) {
        return switch (a < 0, d < 0) {
        case (false, false): .upright
        case (true, false): .mirrored
        case (true, true): .rotated180
        case (false, true): .mirroredRotated180
        }
    }
    return switch (b < 0, c < 0) {
    case (false, false): .transposed
    case (false, true): .rotated90
    case (true, true): .transversed
    case (true, false): .rotated270
    }
}
