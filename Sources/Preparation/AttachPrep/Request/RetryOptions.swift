import AttachPrepModel
public import FoundationEssentials
import MediaTypes
import SafeArithmetic

/// How failed attempts of a job are retried. What is nil is as in the policy that it is based on.
///
/// Its JSON is the name of a policy, or an object: `{"policy": "patient", "attempts": 20, "notThereYet": [403, 404]}`.
public struct RetryOptions: Sendable, Hashable {
    /// The named policies.
    public enum Preset: String, Codable, Sendable, Hashable, CaseIterable {
        /// For a notification that is sent now: 5 attempts within a minute.
        case fast
        /// For a campaign that is sent in hours: 100 attempts within some 8 hours, also for media that is being made.
        case patient
    }

    /// The groups of failures that can be retried.
    public enum Cause: String, Codable, Sendable, Hashable, CaseIterable {
        /// The source's host was not resolved or reached, or the transfer broke off.
        case network
        /// The source's server answered with 408, 425, 429 or 5xx.
        case server
        /// The work failed: a media process ended, the time budget ran out, an internal error.
        case processing
        /// The media is still being made: a status of `statuses`, an empty or incomplete file.
        case notThereYet
    }

    /// The policy that this is based on; nil for the service's default.
    public var preset: Preset?
    /// Maximum number of attempts, including the first.
    public var attempts: Int?
    /// Longest delay after the first failure in seconds, doubled for each further one.
    public var backOffSeconds: Double?
    /// The longest of these delays in seconds.
    public var backOffSecondsMax: Double?
    /// No attempt begins after this time.
    public var until: Date?
    /// The failures that are retried.
    public var causes: Set<Cause>?
    /// The statuses of `notThereYet`: 404, and 403 or 410 where they mean the same.
    public var statuses: Set<Int>?

    public init() {}

    public init(_ preset: Preset) {
        self.preset = preset
    }

    /// A policy's name or JSON object, as of a setting.
    ///
    /// - Throws: `request.invalid`.
    public init(text: String) throws {
        let json = text.utf8.first == UInt8(ascii: "{") ? text : try JSONEncoder.singleLine.text(text)
        do {
            self = try ForeignJSON.decode(RetryOptions.self, from: Array(json.utf8))
        } catch let error as DecodingError {
            throw JSONDiagnosis(of: "The policy").error(error, in: Array(json.utf8))
        }
        try validate()
    }

    /// Whether it is only the name of a policy.
    private var isName: Bool { preset.map { self == RetryOptions($0) } ?? false }

    /// - Throws: `request.invalid`.
    func validate(notAfter: Date? = nil) throws {
        if let attempts, !(1...Limits.retryAttemptsMax).contains(attempts) {
            throw Self.invalid("attempts", reason: "is \(attempts), outside of 1 to \(Limits.retryAttemptsMax)")
        }
        let limits = Limits.retrySecondsMin...Limits.retrySecondsMax
        for (name, value) in [("backOff", backOffSeconds), ("backOffMax", backOffSecondsMax)] {
            guard let value, !limits.contains(value) else { continue }
            throw Self.invalid(
                name, reason: "is \(value) s, outside of \(limits.lowerBound) to \(Int(limits.upperBound)) s")
        }
        if let backOffSeconds, let backOffSecondsMax, backOffSecondsMax < backOffSeconds {
            throw Self.invalid("backOffMax", reason: "is shorter than \"backOff\"")
        }
        if let until, let notAfter, until > notAfter {
            throw Self.invalid("until", reason: "is later than \"notAfter\", which ends all attempts")
        }
        if let other = statuses?.sorted().first(where: { !Self.knownStatuses.contains($0) }) {
            throw Self.invalid("notThereYet", reason: "has the status \(other); only 403, 404 and 410 can mean that")
        }
    }

    private static let knownStatuses: Set = [403, 404, 410]

    private static func invalid(_ key: String, reason: String) -> AttachPrepError {
        AttachPrepError(.requestInvalid, "\"\(key)\" of \"retry\" \(reason); correct it, or leave it out.")
    }
}

extension RetryOptions: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case policy, attempts, backOff, backOffMax, until, on, notThereYet
    }

    public init(from decoder: any Decoder) throws {
        if let name = try? decoder.singleValueContainer().decode(String.self) {
            self.init(try Self.choice(name, key: "retry", as: Preset.self))
            return
        }
        try decoder.rejectUnknownKeys(except: CodingKeys.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        preset = try values.decodeIfPresent(String.self, forKey: .policy).map {
            try Self.choice($0, key: "policy", as: Preset.self)
        }
        attempts = try values.decodeIfPresent(Int.self, forKey: .attempts)
        backOffSeconds = try values.decodeIfPresent(Double.self, forKey: .backOff)
        backOffSecondsMax = try values.decodeIfPresent(Double.self, forKey: .backOffMax)
        until = try values.decodeIfPresent(String.self, forKey: .until).map { text in
            guard let date = Timestamp.date(text) else {
                throw Self.invalid("until", reason: "is not an RFC 3339 time such as 2026-11-21T20:51:02Z")
            }
            return date
        }
        causes = try values.decodeIfPresent([String].self, forKey: .on).map {
            Set(try $0.map { try Self.choice($0, key: "on", as: Cause.self) })
        }
        statuses = try values.decodeIfPresent([Int].self, forKey: .notThereYet).map { Set($0) }
    }

    public func encode(to encoder: any Encoder) throws {
        if isName {
            var value = encoder.singleValueContainer()
            return try value.encode(preset)
        }
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(preset, forKey: .policy)
        try values.encodeIfPresent(attempts, forKey: .attempts)
        try values.encodeIfPresent(backOffSeconds, forKey: .backOff)
        try values.encodeIfPresent(backOffSecondsMax, forKey: .backOffMax)
        try values.encodeIfPresent(until.map(Timestamp.text), forKey: .until)
        try values.encodeIfPresent(causes.map { $0.map(\.rawValue).sorted() }, forKey: .on)
        try values.encodeIfPresent(statuses?.sorted(), forKey: .notThereYet)
    }

    /// - Throws: `request.invalid` for a name that is not one of the cases'.
    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String, key: String, as _: Choice.Type
    ) throws -> Choice {
        if let choice = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(text.utf8) }) { return choice }
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        let place = key == "retry" ? "\"retry\"" : "\"\(key)\" of \"retry\""
        throw AttachPrepError(
            .requestInvalid,
            "\(place) has the unknown name \"\(MessageText.excerpt(text, bytesMax: 80))\"; give one of \(names).")
    }
}

extension Limits {
    /// Attempts of a job that its caller can ask for.
    static let retryAttemptsMax = 1_000
    /// Shortest delay after the first failure that a caller can ask for, in seconds: more often would be an attack.
    static let retrySecondsMin = 0.1
    /// Longest delay between two attempts, in seconds: a day.
    static let retrySecondsMax = 86_400.0
}
