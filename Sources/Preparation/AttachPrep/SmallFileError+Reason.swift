import AttachPrepModel
import Linux

extension SmallFileError {
    /// The end of a sentence about the file: `exceeds 20,000 bytes`.
    func reason(bytesMax: Int) -> String {
        switch self {
        case .tooLarge, .lineTooLong: "exceeds \(bytesMax.grouped) bytes"
        case .unreadable, .notRegular: "cannot be read"
        }
    }
}
