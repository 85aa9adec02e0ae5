/// What red and blue weigh in luma; green weighs the rest.
///
/// Source: ISO/IEC 23091-2, 8.3, "MatrixCoefficients".
struct LumaWeights: Hashable {
    let red: Double
    let blue: Double

    /// BT.601's, which JFIF takes.
    static let jpeg = LumaWeights(red: 0.299, blue: 0.114)

    private init(red: Double, blue: Double) { (self.red, self.blue) = (red, blue) }

    /// Nil for what is no weighted luma with two differences.
    init?(code: Int) {
        switch code {
        case 1: self.init(red: 0.2126, blue: 0.0722)
        case 2, 5, 6: self = .jpeg
        case 4: self.init(red: 0.30, blue: 0.11)
        case 7: self.init(red: 0.212, blue: 0.087)
        case 9: self.init(red: 0.2627, blue: 0.0593)
        default: return nil
        }
    }
}
