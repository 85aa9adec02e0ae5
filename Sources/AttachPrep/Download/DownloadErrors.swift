internal import RichPush

/// The sentences of this room: each names the thing, the limit and the remedy.
extension AttachPrepError {
    static func blocked(_ host: String, _ address: IPAddress, _ range: RefusedAddressRange) -> AttachPrepError {
        AttachPrepError(
            .sourceAddressBlocked,
            "\(host) leads to an address that media may not come from (\(range.name)); \(publicAddress).",
            detail: "\(address) is in \(range)")
    }

    static func blocked(_ host: String, detail: String) -> AttachPrepError {
        AttachPrepError(
            .sourceAddressBlocked, "\(host) leads to an address that media may not come from; \(publicAddress).",
            detail: detail)
    }

    private static let publicAddress = "use a public address or allow the private network"

    static func slowName(_ host: String, _ limit: Duration) -> AttachPrepError {
        AttachPrepError(
            .downloadDNS, "The name \(host) was not resolved within \(limit.inSeconds); check the name servers.")
    }

    static func unresolved(_ host: String, _ error: NameResolutionError) -> AttachPrepError {
        switch error {
        case .unknownName:
            AttachPrepError(
                .downloadDNS, "The name \(host) does not exist; check the address.", isRetryable: false)
        case .temporary(let detail), .failed(let detail):
            AttachPrepError(
                .downloadDNS, "The name \(host) could not be resolved; try again later.", detail: detail)
        }
    }

    static func deadlineExceeded(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .deadlineExceeded, "The budget ended while \(host) was being fetched; allow more time.")
    }

    static func cancelled(_ host: String) -> AttachPrepError {
        AttachPrepError(.cancelled, "The download from \(host) was cancelled; ask again if it is still wanted.")
    }

    static func bodyTooLarge(_ limit: Int) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The file is larger than \(limit.grouped) bytes, the most that is taken in; link a smaller one.")
    }

    static let unnamedBody = AttachPrepError(
        .mediaUnrecognized,
        "The first \(Limits.unnamedBytesMax.grouped) bytes of the file are no kind of media that is known; "
            + "link a picture, a sound or a movie.")

    static func headersTooLarge(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "\(host) sent more than \(Limits.headerBytesMax.grouped) bytes or \(Limits.headerLinesMax.grouped) lines "
                + "of headers; use another server.")
    }

    static func unpacksTooFar(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooLarge,
            "The file from \(host) unpacks to more than \(Limits.unpackedShareMax) times what was sent; "
                + "serve it without Content-Encoding.")
    }

    static func unpacksToNothing(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "The file from \(host) is packed so that nothing comes of its bytes; serve it without Content-Encoding.")
    }

    static func refusedCoding(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "\(host) sent the file in a Content-Encoding that is not unpacked (gzip and deflate are, one at a time); "
                + "serve it without Content-Encoding.")
    }

    static func refusedTransferCoding(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadContentCoding,
            "\(host) answered with a Transfer-Encoding other than chunked; switch it off on the server.")
    }

    static func undecodable(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTruncated, "\(host) sent a body that its Content-Encoding does not fit; check the server.")
    }

    static func contradictory(_ host: String, _ field: String) -> AttachPrepError {
        AttachPrepError(
            .downloadHTTPStatus, "\(host) sent a \(field) header that cannot be read in one way; check the server.",
            isRetryable: false)
    }

    static func tooManyRedirects(_ host: String) -> AttachPrepError {
        AttachPrepError(
            .downloadTooManyRedirects,
            "The address led through more than \(Limits.redirectsMax) redirects, last by \(host); link the file itself."
        )
    }

    static func truncated(_ host: String, bytes: Int, total: Int?, detail: String? = nil) -> AttachPrepError {
        let whole = total.map { " of \($0.grouped)" } ?? ""
        return AttachPrepError(
            .downloadTruncated,
            "\(host) ended the file after \(bytes.grouped)\(whole) bytes; try again or check the server.",
            detail: detail)
    }
}
