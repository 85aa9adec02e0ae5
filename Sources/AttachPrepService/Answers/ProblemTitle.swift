import RichPush

extension ErrorCode {
    /// What the code means, in a few words that are the same for each problem of that code.
    var title: String {
        switch self {
        case .requestInvalid: "The request is not valid"
        case .requestUnauthorized: "The request is not authorized"
        case .requestNotFound: "There is no such thing"
        case .requestConflict: "The request does not fit the present state"
        case .requestTooLarge: "The request is too large"
        case .requestRateLimited: "There are too many requests"
        case .cancelled: "The job was cancelled"
        case .internal: "The service failed"
        case .limitExceeded: "The attachment is over its limit"
        case .deadlineExceeded: "The time was over"
        case .deadlineNotAfter: "The job's notAfter has passed"
        case .sandboxUnavailable: "The walls around decoders are not available"
        default: sourceTitle ?? mediaTitle ?? laterTitle
        }
    }

    private var sourceTitle: String? {
        switch self {
        case .sourceInvalidURL: "The source is not a usable URL"
        case .sourceSchemeNotAllowed: "The scheme of the source is not allowed"
        case .sourceAddressBlocked: "The address of the source is not allowed"
        case .sourceNotFound: "The source does not exist"
        case .downloadDNS: "The name of the source was not resolved"
        case .downloadConnect: "The server of the source was not reached"
        case .downloadTLS: "The server of the source is not trusted"
        case .downloadHTTPStatus: "The server of the source refused"
        case .downloadContentCoding: "The source is packed in a way that is not unpacked"
        case .downloadTooManyRedirects: "The source was redirected too often"
        case .downloadTimeout: "The server of the source was too slow"
        case .downloadTruncated: "The source came incomplete"
        case .downloadTooLarge: "The source is too large"
        default: nil
        }
    }

    private var mediaTitle: String? {
        switch self {
        case .mediaEmpty: "The source is empty"
        case .mediaUnrecognized: "The source is not media"
        case .mediaUnsupported: "The format of the source is not supported"
        case .mediaCorrupt: "The source is damaged"
        case .mediaEncrypted: "The source is encrypted"
        case .mediaTooManyPixels: "The source has too many pixels"
        case .mediaTooManyFrames: "The source has too many frames"
        case .mediaTooLong: "The source lasts too long"
        case .mediaQuarantined: "The source is in quarantine"
        case .mediaDecoderCrashed: "A decoder ended unexpectedly"
        case .optionsInvalidClippingRect: "The clipping rectangle is not valid"
        case .optionsInvalidTime: "The thumbnail time is not valid"
        case .optionsInvalidSize: "The thumbnail size is not valid"
        default: nil
        }
    }

    private var laterTitle: String {
        switch self {
        case .outputNotWritable: "The result cannot be written"
        case .outputNoSpace: "There is no room for the result"
        case .publishDenied: "Publishing was denied"
        case .publishNotFound: "The place to publish to does not exist"
        case .publishUnavailable: "The place to publish to is not available"
        case .payloadNoMedia: "The payload names no media"
        case .payloadTooLarge: "The payload is too large"
        case .payloadInvalid: "The payload is not valid"
        case .eventsFull: "There are too many listeners to events"
        case .queueFull: "The queue is full"
        case .queueUnavailable: "The queue is not available"
        case .jobCrashedService: "The job crashed the service"
        default: "The request failed"
        }
    }
}
