internal import Curl

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension CurlCredentials {
    /// The value of an `Authorization` header, RFC 7617.
    var basicAuthorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
