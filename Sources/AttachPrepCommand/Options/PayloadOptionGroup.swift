import ArgumentParser
import AttachPrep
import RichPush

/// How a payload is read.
struct PayloadOptionGroup: ParsableArguments {
    @Flag(help: "Only report what iOS and apps would do with it; nothing is fetched or written.")
    var check = false

    @Flag(help: "List the dialects that are known, and where each writes its media.")
    var listDialects = false

    @Option(
        help: ArgumentHelp(
            "Whose way of naming media is meant, as in airship or fcm; else it is found out.", valueName: "name"))
    var dialect: String?

    @Option(
        help: ArgumentHelp(
            "A key of your own that holds the media; a.b[].c means each element of a list.", valueName: "a.b.c"))
    var mediaKey: String?

    @Flag(name: .customLong("no-neutral"), help: "Leave the member attachprep out: an SDK reads its own keys.")
    var noNeutral = false

    @Option(help: ArgumentHelp("Do not report this warning; may be repeated.", valueName: "code"))
    var silence: [String] = []

    /// - Throws: `ValidationError` for a code that no warning has.
    func silenced() throws -> Set<PayloadWarning.Code> {
        Set(
            try silence.map { text in
                if let code = PayloadWarning.Code(rawValue: text) { return code }
                let known = PayloadWarning.Code.allCases.map(\.rawValue).sorted().joined(separator: ", ")
                throw ValidationError("--silence takes the code of a warning: \(known).")
            })
    }

    /// - Throws: `ValidationError` for a name that is none.
    func row() throws -> PayloadDialect? {
        do {
            return try PayloadOrder.dialect(named: dialect, mediaKey: mediaKey)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }
}
