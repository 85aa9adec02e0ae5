/// How a line of the log is written.
public enum LogFormat: String, Sendable, Hashable, CaseIterable {
    /// For people: time, level, message, `key=value`.
    case text
    /// For programs: one object a line.
    case json
}
