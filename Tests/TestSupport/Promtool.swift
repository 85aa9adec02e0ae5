/// `promtool` of Prometheus, which checks rules, queries and pages of metrics.
public enum Promtool {
    /// The path of the program, from `tools/promtool`.
    public static let path = Result {
        let install = try RunCommand(SourceTree.path("tools/promtool/install"), timeoutSeconds: 300).runBlocking()
        guard install.exitCode == 0, let path = install.lines.last else {
            throw CommandError(description: "make deps-test installs promtool: \(install.errorText)")
        }
        return path
    }
}
