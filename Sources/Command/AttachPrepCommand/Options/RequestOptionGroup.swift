import ArgumentParser
import AttachPrep
import AttachPrepModel

/// The options of a request, shared by `prepare`, `batch`, `payload` and `inspect`.
struct RequestOptionGroup: FlagTable {
    static let table = AttachmentRequest.optionRows.map(TableFlag.init)

    let given: [String: [String]]

    /// The request for a source.
    ///
    /// - Throws: `options.invalid_clipping_rect`, `request.invalid` for a target; other options are validated when the
    ///   request is prepared.
    func request(for source: String) throws -> AttachmentRequest {
        var request = AttachmentRequest(source: source)
        for row in AttachmentRequest.optionRows {
            for text in given[row.facts.flag] ?? [] { _ = try row.parse(&request, text) }
        }
        return request
    }
}

extension TableFlag {
    fileprivate init(_ row: OptionRow<AttachmentRequest>) {
        let facts = row.facts
        self.init(
            name: facts.flag, kind: facts.isSwitch ? .onOff : facts.isRepeatable ? .list : .value,
            help: facts.flagHelp, valueName: facts.valueName, choices: facts.choices
        ) { text in
            var request = AttachmentRequest(source: "")
            do {
                if try row.parse(&request, text) { return }
            } catch is AttachPrepError {
                // A value that is only out of range is reported with its code, as the result of each source.
                return
            }
            throw ValidationError("give \(facts.expected).")
        }
    }
}
