import RichPush

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// The lane of a job in its queue.
public enum JobPriority: String, Codable, Sendable, Hashable, CaseIterable {
    case high
    case normal
    case bulk
}

/// When a request is worked on as a job, in which order, and who is told: nothing in it changes the result.
public struct JobTerms: Sendable, Hashable {
    /// Told by a webhook when the job has ended; http or https.
    public var callbackURL: String?
    public var priority: JobPriority
    /// The job is not begun before.
    public var notBefore: Date?
    /// The job is neither begun nor tried again after it: its deadline over all attempts.
    public var notAfter: Date?

    public init() {
        priority = .normal
    }

    /// What a command that works at once cannot carry out.
    ///
    /// - Throws: `request.invalid`.
    public func refuseOutsideOfService() throws {
        let asked = [
            ("callbackURL", callbackURL != nil), ("notBefore", notBefore != nil), ("notAfter", notAfter != nil),
        ]
        guard let (name, _) = asked.first(where: \.1) else { return }
        throw AttachPrepError(
            .requestInvalid, "\"\(name)\" is carried out by attachprep serve; leave it out of a batch.")
    }

    /// - Throws: `request.invalid`.
    func validate() throws {
        if let notBefore, let notAfter, notAfter <= notBefore {
            throw AttachPrepError(.requestInvalid, "\"notAfter\" is not later than \"notBefore\".")
        }
        guard let callbackURL else { return }
        guard callbackURL.utf8.count <= Limits.urlBytesMax else {
            throw AttachPrepError(.requestInvalid, "The callbackURL is longer than \(Limits.urlBytesMax) bytes.")
        }
        do {
            _ = try WebAddress(callbackURL, httpsOnly: false)
        } catch {
            throw AttachPrepError(
                .requestInvalid, "The callbackURL is not an http or https URL.", detail: "\(error)")
        }
    }
}

extension JobTerms {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case callbackURL, priority, notBefore, notAfter
    }

    init(from values: KeyedDecodingContainer<CodingKeys>, defaults: JobTerms) throws {
        self = defaults
        callbackURL = try values.decodeIfPresent(String.self, forKey: .callbackURL) ?? callbackURL
        priority = try values.decodeIfPresent(JobPriority.self, forKey: .priority) ?? priority
        notBefore = try Self.time(.notBefore, in: values) ?? notBefore
        notAfter = try Self.time(.notAfter, in: values) ?? notAfter
    }

    func encode(to values: inout KeyedEncodingContainer<CodingKeys>) throws {
        try values.encodeIfPresent(callbackURL, forKey: .callbackURL)
        // Left out when it says nothing: the id of a request is derived from what is written here.
        if priority != .normal { try values.encode(priority, forKey: .priority) }
        try values.encodeIfPresent(notBefore.map(Timestamp.text), forKey: .notBefore)
        try values.encodeIfPresent(notAfter.map(Timestamp.text), forKey: .notAfter)
    }

    private static func time(_ key: CodingKeys, in values: KeyedDecodingContainer<CodingKeys>) throws -> Date? {
        guard let text = try values.decodeIfPresent(String.self, forKey: key) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw AttachPrepError(
                .requestInvalid,
                "The request's \"\(key.rawValue)\" is no RFC 3339 time; write it as 2026-11-21T20:51:02Z.")
        }
        return date
    }
}
