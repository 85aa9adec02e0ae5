public import AttachPrepModel
public import FoundationEssentials
import RichPush
import SafeArithmetic

/// The lane of a job in the queue.
public enum JobPriority: String, JSONChoice, Sendable, Hashable {
    case high
    case normal
    case bulk
}

/// Scheduling and callback of a request that is run as a job. None of these options changes the result.
public struct JobOptions: Sendable, Hashable {
    /// The http or https URL of the webhook that is called when the job has ended.
    public var callbackURL: String?
    public var priority: JobPriority
    /// The job does not start before this time.
    public var notBefore: Date?
    /// The deadline over all attempts: the job is neither started nor retried after this time.
    public var notAfter: Date?
    /// How failed attempts are retried; nil for the service's default.
    public var retry: RetryOptions?
    /// The APNs payload into which the result is written, for webhooks and the job; nil without one.
    public var payload: PushTemplate?
    /// The caller's own words by which the job is found, each once.
    public var tags: [String] = []

    public init() {
        priority = .normal
    }

    /// Rejects options that only `attachprep serve` supports.
    ///
    /// - Throws: `request.invalid`.
    public func rejectServiceOnlyOptions() throws {
        let given = [
            ("callbackURL", callbackURL != nil), ("notBefore", notBefore != nil), ("notAfter", notAfter != nil),
            ("payload", payload != nil), ("retry", retry != nil), ("tags", !tags.isEmpty),
        ]
        guard let (name, _) = given.first(where: \.1) else { return }
        throw AttachPrepError(
            .requestInvalid, "\"\(name)\" requires attachprep serve; remove it from the batch.")
    }

    /// - Throws: `request.invalid`.
    func validate() throws {
        try Self.check(tags: tags)
        if let notBefore, let notAfter, notAfter <= notBefore {
            throw AttachPrepError(.requestInvalid, "\"notAfter\" must be later than \"notBefore\".")
        }
        try retry?.validate(notAfter: notAfter)
        if let callbackURL { try Self.check(callbackURL: callbackURL) }
    }

    /// Validates the URL of a webhook.
    ///
    /// - Throws: `request.invalid`.
    package static func check(callbackURL: String) throws {
        guard callbackURL.utf8.count <= Limits.urlBytesMax else {
            throw AttachPrepError(.requestInvalid, "The callbackURL is over the limit of \(Limits.urlBytesMax) bytes.")
        }
        do {
            _ = try WebAddress(callbackURL, httpsOnly: false)
        } catch {
            throw AttachPrepError(
                .requestInvalid, "The callbackURL is not an http or https URL; write it as https://host/path.",
                detail: "\(error)")
        }
    }
}

extension JobOptions {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case callbackURL, priority, notBefore, notAfter, retry, payload, tags
    }

    private static func check(tags: [String]) throws {
        guard tags.count <= Limits.jobTagsMax else {
            throw AttachPrepError(
                .requestInvalid, "\"tags\" has \(tags.count) tags; at most \(Limits.jobTagsMax) are allowed.")
        }
        guard tags.allSatisfy(isTag) else {
            throw AttachPrepError(
                .requestInvalid,
                "Each of \"tags\" must be 1 to \(Limits.jobTagCharactersMax) visible ASCII characters without comma, "
                    + "such as campaign=spring.")
        }
        guard Set(tags).count == tags.count else {
            throw AttachPrepError(.requestInvalid, "\"tags\" has the same tag twice; send each once.")
        }
    }

    /// Whether a text can be a tag.
    package static func isTag(_ text: String) -> Bool {
        (1...Limits.jobTagCharactersMax).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: ",") }
    }

    init(from values: KeyedDecodingContainer<CodingKeys>, defaults: JobOptions) throws {
        self = defaults
        callbackURL = try values.decodeIfPresent(String.self, forKey: .callbackURL) ?? callbackURL
        priority = try values.decodeIfPresent(JobPriority.self, forKey: .priority) ?? priority
        notBefore = try Self.time(.notBefore, in: values) ?? notBefore
        notAfter = try Self.time(.notAfter, in: values) ?? notAfter
        retry = try values.decodeIfPresent(RetryOptions.self, forKey: .retry) ?? retry
        payload = try values.decodeIfPresent(PushTemplate.self, forKey: .payload) ?? payload
        tags = try values.decodeIfPresent([String].self, forKey: .tags) ?? tags
    }

    func encode(to values: inout KeyedEncodingContainer<CodingKeys>) throws {
        try values.encodeIfPresent(callbackURL, forKey: .callbackURL)
        // The default is left out, so that ids that are derived from this JSON do not change.
        if priority != .normal { try values.encode(priority, forKey: .priority) }
        try values.encodeIfPresent(notBefore.map(Timestamp.text), forKey: .notBefore)
        try values.encodeIfPresent(notAfter.map(Timestamp.text), forKey: .notAfter)
        try values.encodeIfPresent(retry, forKey: .retry)
        try values.encodeIfPresent(payload, forKey: .payload)
        if !tags.isEmpty { try values.encode(tags, forKey: .tags) }
    }

    private static func time(_ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>) throws -> Date? {
        let text: String?
        do { text = try values.decodeIfPresent(String.self, forKey: key) } catch is DecodingError {
            throw DecodingError.expected(
                "an RFC 3339 time such as \"2026-11-21T20:51:02Z\"", at: values.codingPath + [key])
        }
        guard let text else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "The request's \"\(key.rawValue)\" must be an RFC 3339 time with an offset, such as "
                    + "2026-11-21T20:51:02Z, not \"\(MessageText.excerpt(text, bytesMax: 80))\".")
        }
        return date
    }
}

extension Limits {
    /// Tags of a job: each is a row of its own.
    package static let jobTagsMax = 10
    /// Characters of a tag: a word, or a name with a value.
    package static let jobTagCharactersMax = 64
}
