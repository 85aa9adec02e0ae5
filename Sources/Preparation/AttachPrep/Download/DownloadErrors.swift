internal import AttachPrepModel
internal import MediaTypes

/// The errors of downloads. Each message gives what failed, the limit and what to do.
extension AttachPrepError {
    static func blocked(_ host: String, address: IPAddress, range: BlockedAddressRange) -> AttachPrepError {
        AttachPrepError(
            .sourceAddressBlocked,
            "\(host) resolves to a blocked address (\(range.name)); \(publicAddress).",
            detail: "\(address) is in \(range)")
    }

    static func blocked(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .sourceAddressBlocked, "\(host) resolves to a blocked address; \(publicAddress).",
            detail: detail)
    }

    private static let publicAddress = "use a public address or allow the private network"

    static func resolutionTimedOut(_ host: String, limit: Duration) -> AttachPrepError {
        AttachPrepError(
            .downloadDNS, "The name \(host) was not resolved within \(limit.inSeconds); check the name servers.")
    }

    static func unresolved(_ host: String, error: NameResolutionError) -> AttachPrepError {
        switch error {
        case .unknownName:
            AttachPrepError(
                .downloadDNS, "The name \(host) does not exist; check the URL.", isRetryable: false)
        case .temporary(let detail), .failed(let detail):
            AttachPrepError(
                .downloadDNS, "The name \(host) could not be resolved; try again later.", detail: detail)
        }
    }

    static func deadlineExceeded(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .deadlineExceeded, "The time budget ran out while downloading from \(host); raise the budget.")
    }

    static func cancelled(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .cancelled, "The download from \(host) was cancelled; send the request again if it is still needed.")
    }

    static func bodyTooLarge(_ limit: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The file is larger than the limit of \(limit.grouped) bytes; link a smaller one.")
    }

    static let unidentifiedBody = AttachPrepError(
        .mediaUnrecognized,
        "The first \(Limits.unidentifiedBytesMax.grouped) bytes of the file match no supported media format; "
            + "link an image, an audio file or a movie.")

    /// - Parameter name: The header with the longest line, as far as is known.
    static func headersTooLarge(_ host: String, longest name: String? = nil) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "\(host) sent more than \(Limits.headerBytesMax.grouped) bytes or \(Limits.headerLinesMax.grouped) lines "
                + "of headers\(name.map { ", the longest in \($0)" } ?? ""); send fewer or use another server.")
    }

    /// libcurl passes on only complete lines, so the name of the header that is too long is not known.
    ///
    /// - Parameter name: The header before it; nil where it is the first line.
    static func headerLineTooLong(_ host: String, after name: String?) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "\(host) sent a header line of more than \(Limits.headerBytesMax.grouped) bytes, "
                + "\(name.map { "the one after \($0)" } ?? "the first one"); send less or use another server.")
    }

    static func decompressionRatioExceeded(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The body from \(host) decompresses to more than \(Limits.unpackedShareMax) times its size; "
                + "serve it without Content-Encoding.")
    }

    static func decompressionWithoutOutput(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "The compressed body from \(host) produces no output; serve it without Content-Encoding.")
    }

    static func rejectedCoding(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "\(host) sent the file in an unsupported Content-Encoding (supported: gzip or deflate alone); "
                + "serve it without Content-Encoding.")
    }

    static func rejectedTransferCoding(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "\(host) answered with a Transfer-Encoding other than chunked; turn it off on the server.")
    }

    static func undecodable(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTruncated, "\(host) sent a body that does not match its Content-Encoding; check the server.")
    }

    static func ambiguousHeader(_ host: String, field: String) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus, "\(host) sent an ambiguous \(field) header; check the server.",
            isRetryable: false)
    }

    static func headerWithoutColon(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus, "\(host) sent a header line without a colon; remove it on the server.",
            detail: detail, isRetryable: false)
    }

    static func tooManyRedirects(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooManyRedirects,
            "The URL has more than \(Limits.redirectsMax) redirects, the last from \(host); link the file itself."
        )
    }

    static func truncated(_ host: String, bytes: Int, total: Int?, detail: String? = nil) -> AttachPrepError {
        let whole = total.map { " of \($0.grouped)" } ?? ""
        return AttachPrepError(
            .downloadTruncated,
            "The transfer from \(host) ended after \(bytes.grouped)\(whole) bytes; try again or check the server.",
            detail: detail)
    }
}
