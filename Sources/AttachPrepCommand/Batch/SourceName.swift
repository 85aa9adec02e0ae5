import AttachPrep

/// The last part of a source: what a person knows it by. Pure.
enum SourceName {
    static func text(_ source: String) -> String {
        let path = RedactedURL.redact(source).prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? source
    }
}
