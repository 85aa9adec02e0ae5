import AttachPrep
import AttachPrepModel
import FoundationEssentials
import RichPush

/// The parts of the OpenAPI document that come from tables of the code; `tools/docs/reference` writes them into it.
package enum OpenAPIFragments {
    /// Lists of names, by the schema or property that has them.
    private static let names = [
        "ErrorCode": ErrorCode.allCases.map(\.rawValue),
        "PayloadSubmission/properties/dialect": PayloadDialect.all.map(\.name),
        "PayloadResult/properties/warnings/items/properties/code": PayloadWarning.Code.allCases.map(\.rawValue),
        "Manifest/properties/warnings/items/properties/code": PreparationWarning.Code.allCases.map(\.rawValue),
    ]

    /// One JSON object: the options of a request, and lists of names.
    package static func json() throws -> String {
        let encoder = JSONEncoder()
        return """
            {"options": \(try AttachmentRequest.schemas()), \
            "names": \(String(decoding: try encoder.encode(names), as: UTF8.self))}
            """
    }
}
