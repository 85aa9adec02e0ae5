import AttachPrep
import CBuild
import Logging
import MediaEngine
import PostgresDatabase
import SQLiteDatabase

/// The text of `--version`.
enum Version {
    /// The first line, which programs may read; more lines may be added after it.
    static let text = "attachprep \(ProductVersion.text)"

    /// The commit that was built.
    static let commit = unsafe String(cString: CBuild_commit())

    /// The lines after it: the commit that was built, and the versions of the libraries at run time. Those that decode
    /// and encode are reported by a media process, which takes a tenth of a second.
    static func details() async -> String {
        let lines =
            [
                row("commit", value: commit), row("libcurl", value: DownloadLibrary.version),
                row("sqlite", value: SQLiteLibrary.version ?? "not usable"),
                row("libpq", value: PostgresLibrary.version),
            ] + (await mediaRows())
        return "\n" + lines.joined(separator: "\n")
    }

    private static func mediaRows() async -> [String] {
        let logger = Logger(label: "attachprep") { _ in SwiftLogNoOpLogHandler() }
        do {
            let preparer = try AttachmentPreparer(
                PreparerConfiguration(output: PreparerConfiguration.scratchFolder), logger: logger)
            let description = try? await preparer.describe()
            await preparer.shutdown()
            guard let description else { return [row("media process", value: "not usable; run attachprep doctor")] }
            return description.libraries.map { row($0.name, value: $0.version) }
        } catch {
            return [row("media process", value: "not found; run attachprep doctor")]
        }
    }

    private static func row(_ name: String, value: String) -> String { TerminalText.column(name, width: 15) + value }
}
