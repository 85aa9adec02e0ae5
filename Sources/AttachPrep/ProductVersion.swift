/// The version of the product.
public enum ProductVersion {
    /// Semantic versioning; stands in the user agent, in `--version` and in CHANGELOG.md.
    public static let text = "0.1.0"
}
