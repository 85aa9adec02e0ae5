import RichPush

/// How many failed and dead jobs there are of a code.
struct ErrorNumber: Encodable {
    var code: ErrorCode
    var jobs: Int
}
