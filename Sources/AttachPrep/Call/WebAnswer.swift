/// What came back: a status is an answer, whichever it is; redirects are not followed.
package struct WebAnswer: Sendable, Hashable {
    /// Status and fields.
    package let head: ResponseHead
    /// As sent, from its beginning.
    package let body: [UInt8]
    /// Whether that is all of the body: it may have been longer than was wanted, or have broken off.
    package let isWhole: Bool
    /// How long the server asks to be left alone, read off seconds or a date; nil when it does not ask.
    package let retryAfter: Duration?

    package var status: Int { head.status }
}
