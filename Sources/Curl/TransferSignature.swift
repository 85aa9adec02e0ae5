/// By whom and for where a request is signed: AWS signature version 4, as libcurl makes it.
///
/// What 7.88 leaves to its caller, tried against an endpoint that checks:
/// - The digest of the body is signed only if `x-amz-content-sha256` is among the headers.
/// - Path and query are signed as they stand in the address: percent-encoded, keys in order, `key=` without a value.
/// - Every line of the headers is signed, also one that only takes a header away ("Expect:") and is never sent.
/// - Key and secret go in separately: a key may hold a colon.
///
/// <https://curl.se/libcurl/c/CURLOPT_AWS_SIGV4.html>
package struct TransferSignature: Sendable, Hashable {
    package var accessKeyID: String
    package var secretAccessKey: String
    /// Letters, digits and hyphens; the caller has checked it.
    package var region: String
    package var service: String

    package init(accessKeyID: String, secretAccessKey: String, region: String, service: String) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.region = region
        self.service = service
    }

    /// CURLOPT_AWS_SIGV4's form.
    var provider: String { "aws:amz:\(region):\(service)" }
}

/// The secret is shown nowhere.
extension TransferSignature: CustomStringConvertible, CustomReflectable {
    package var description: String { "\(accessKeyID) \(region) \(service)" }
    package var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID, "region": region]) }
}
