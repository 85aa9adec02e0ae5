/// A place that breaks a house rule, and what to do about it.
struct Finding: Hashable, CustomStringConvertible {
    let path: String
    /// From 1; nil when the whole file is meant.
    let line: Int?
    let remedy: String

    init(_ path: String, _ line: Int?, _ remedy: String) {
        self.path = path
        self.line = line
        self.remedy = remedy
    }

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(remedy)" }
}
