public enum ProductVersion {
    /// A semantic version, shown in the user agent, `--version` and CHANGELOG.md.
    public static let text = "1.0.0"
}
