import Glibc
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where `attachprep-media` is: what ATTACHPREP_MEDIA says, else beside the running executable, else in `../libexec`.
public enum MediaExecutable {
    /// The name of the file.
    public static let name = "attachprep-media"
    /// The environment variable that names another place.
    public static let variable = "ATTACHPREP_MEDIA"

    /// The path of the first candidate that can be run.
    ///
    /// - Throws: `internal`, naming the places that were looked at.
    public static func locate() throws -> String {
        try locate(environment: ProcessInfo.processInfo.environment, runningExecutable: ownPath())
    }

    /// As above, for a given environment and place.
    package static func locate(environment: [String: String], runningExecutable: String) throws -> String {
        let candidates = candidates(environment: environment, runningExecutable: runningExecutable)
        guard let path = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw AttachPrepError(
                .internal,
                "\(name) was not found at \(candidates.joined(separator: " or ")); install it beside attachprep or "
                    + "set \(variable).",
                isRetryable: false)
        }
        return path
    }

    /// The places in order: pure.
    package static func candidates(environment: [String: String], runningExecutable: String) -> [String] {
        if let named = environment[variable], !named.isEmpty { return [named] }
        let folder = runningExecutable.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        return ["\(folder)/\(name)", "\(folder)/../libexec/\(name)"]
    }

    private static func ownPath() -> String {
        guard let path = unsafe realpath("/proc/self/exe", nil) else { return "" }
        defer { unsafe free(path) }
        return unsafe String(cString: path)
    }
}
