package import RichPush

/// The name and color by which the dashboard tells one installation from another, such as staging from production.
public struct ServiceEnvironment: Codable, Sendable, Hashable {
    /// Each is readable beside its name in both themes (`.environment` in `dashboard.css`).
    public enum Color: String, CaseIterable, Codable, Sendable, Hashable {
        case gray
        case red
        case orange
        case green
        case blue
        case purple
    }

    /// Printable text of 1 to 32 characters.
    public let name: String
    public let color: Color
}

extension Limits {
    /// Characters of an environment's name: what fits into the header of a phone.
    package static let environmentNameCharactersMax = 32
}
