package import Curl
internal import RichPush

/// One request to somebody else's service, and how much of the answer is wanted.
package struct WebCall: Sendable {
    package enum Method: Sendable, Hashable {
        case get
        case post
        case delete
        case head
        case put
    }

    package var method: Method
    /// http or https; user info becomes Basic authentication unless the headers hold an `Authorization`.
    package var url: String
    package var headers: [(name: String, value: String)]
    /// Sent by a POST, at most `Limits.callBytesMax`.
    package var body: [UInt8]
    /// A piece of a file, sent by a PUT; its descriptor stays open until the call is over.
    package var upload: TransferUpload?
    /// Signs the call, which then goes out with the caller's headers alone.
    package var signature: TransferSignature?
    /// The most bytes of the answer's body that are kept; a longer one is cut.
    package var answerBytesMax: Int
    /// Whether it may arrive twice: a connection that was used before may turn out dead after the request was sent, and
    /// then it is sent again. What must not arrive twice gets a connection of its own.
    package var isRepeatable = true
    /// How long the answer may take once all is sent; nil leaves it to the deadline.
    package var answerSecondsMax: Double?
    /// When everything must have ended, the lookup of the name included.
    package var deadline: ContinuousClock.Instant

    package init(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        answerBytesMax: Int, deadline: ContinuousClock.Instant
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.answerBytesMax = answerBytesMax
        self.deadline = deadline
    }
}
