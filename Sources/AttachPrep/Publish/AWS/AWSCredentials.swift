import RichPush

/// Who signs: a key with its secret, and the token that goes with temporary ones.
struct AWSCredentials: Sendable, Hashable {
    let accessKeyID: String
    let secretAccessKey: String
    let sessionToken: String?

    /// - Parameter origin: where they stand, for the message.
    /// - Throws: `publish.denied` for text that cannot be sent in a header.
    init(accessKeyID: String, secretAccessKey: String, sessionToken: String?, from origin: String)
        throws(AttachPrepError)
    {
        let texts = [accessKeyID, secretAccessKey, sessionToken ?? ""]
        guard texts.allSatisfy({ $0.utf8.allSatisfy { 0x21...0x7e ~= $0 } }) else {
            throw AttachPrepError(
                .publishDenied,
                "The S3 credentials of \(origin) hold a space or a character that no key has; write them anew.")
        }
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
    }
}

/// The secrets are shown nowhere.
extension AWSCredentials: CustomStringConvertible, CustomReflectable {
    var description: String { "\(accessKeyID)\(sessionToken == nil ? "" : ", temporary")" }
    var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID]) }
}
