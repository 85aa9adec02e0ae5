import AttachPrep

/// The version of the product, as servers see it too.
enum Version {
    static let text = "attachprep \(ProductVersion.text)"
}
