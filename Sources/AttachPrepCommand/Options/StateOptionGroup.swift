import ArgumentParser
import AttachPrep

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where what must outlive a command is kept.
struct StateOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Keep queue and quarantine here (ATTACHPREP_STATE; default: $XDG_STATE_HOME/attachprep or "
                + "~/.local/state/attachprep).",
            valueName: "dir"))
    var state: String?

    func validate() throws {
        if state?.isEmpty == true { throw ValidationError("--state is the path of a folder.") }
    }

    /// Nil where there is neither the option nor a home.
    var folder: String? {
        state ?? ProcessInfo.processInfo.environment["ATTACHPREP_STATE"] ?? StateFolder.defaultPath
    }
}
