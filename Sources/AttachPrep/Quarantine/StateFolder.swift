#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where what must outlive a command is kept.
public enum StateFolder {
    /// `$XDG_STATE_HOME/attachprep`, else `~/.local/state/attachprep`; nil where there is no home.
    ///
    /// Source: XDG Base Directory Specification, which has paths that are not absolute ignored.
    public static var defaultPath: String? { defaultPath(environment: ProcessInfo.processInfo.environment) }

    /// As above, for a given environment: pure.
    package static func defaultPath(environment: [String: String]) -> String? {
        if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return "\(state)/attachprep" }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return "\(home)/.local/state/attachprep"
    }
}
