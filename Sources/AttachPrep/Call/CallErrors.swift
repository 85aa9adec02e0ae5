internal import RichPush

/// Sentences that speak of calls where those of downloads speak of files.
extension AttachPrepError {
    static func callTooLarge(_ bytes: Int) -> AttachPrepError {
        AttachPrepError(
            .requestTooLarge,
            "What is to be sent is \(bytes.grouped) bytes long, over the limit of \(Limits.callBytesMax.grouped).")
    }

    /// The same error, said of a call.
    func ofCall(to host: String) -> AttachPrepError {
        let sentence: String? =
            switch code {
            case .sourceAddressBlocked:
                "\(host) leads to an address that nothing is sent to; use a public address, or have the service's "
                    + "operator allow its network."
            case .deadlineExceeded: "\(host) did not answer in the time given; try again later or check the server."
            case .cancelled: "The call to \(host) was given up before its answer came."
            case .internal: "The call to \(host) failed inside attachprep; try again."
            default: nil
            }
        guard let sentence else { return self }
        return AttachPrepError(code, sentence, detail: detail ?? message, isRetryable: isRetryable)
    }
}
