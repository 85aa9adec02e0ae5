/// What a media process has found out about the work of its call; its parent allows processor time accordingly.
package enum WorkReport: Codable, Sendable, Hashable {
    /// The header of the file declares so many pixels a frame. The number of frames is nil where none is declared.
    case declared(pixels: Int, frames: Int?)
    /// The file is read, and an attachment or a crop is encoded, which adapts to the time that is left.
    case encoding
}
