package import RichPush

/// What the caller makes of the first bytes.
package enum DownloadVerdict: Sendable, Hashable {
    /// The content has no name yet; asked again when more has arrived.
    case undecided
    /// The content is wanted, up to so many decimal bytes; `tooLarge` is thrown when it declares or brings more.
    case accepted(bytesMax: Int, tooLarge: AttachPrepError)
}
