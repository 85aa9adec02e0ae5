public import AttachPrepModel
import Crypto
import FoundationEssentials
import MediaEngine
public import MediaTypes
import SafeArithmetic

/// A request to prepare an attachment: source, options, policy and budget. Only the source is required.
///
/// ```swift
/// var request = AttachmentRequest(source: "https://cdn.example/cat.webp")
/// request.options.crop = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
/// ```
public struct AttachmentRequest: Sendable, Hashable {
    /// How an attachable file over its limit is handled.
    public enum Oversize: String, JSONChoice, Sendable, Hashable {
        case shrink
        case reject
    }

    /// How media that iOS does not attach is handled.
    public enum Unsupported: String, JSONChoice, Sendable, Hashable {
        case convert
        case reject
    }

    /// A URL; on the command line also a path or a file URL.
    public var source: String
    /// The caller's id for the result: a letter or digit, then up to 127 letters, digits, dots, dashes, underscores.
    public var id: String?
    public var options: RequestOptions
    public var rendition: RequestedRendition
    public var oversize: Oversize
    public var unsupported: Unsupported
    /// The types that the app can attach; nil for all that iOS documents.
    public var attachmentTypes: AcceptedTypes?
    /// The systems that pictures are made for beside iOS's attachment.
    public var targets: RequestTargets
    /// The source of the sender's picture, as `source`; nil makes it of `source` if the target is named. Fetched
    /// without `headers`.
    public var avatar: String?
    /// Whether the files are encrypted for the phones that receive the payload with their secret.
    public var seal: Bool
    /// Time budget in seconds, from when work on the request begins.
    public var budgetSeconds: Double
    /// The caller's size limit in decimal bytes, in addition to Apple's.
    public var bytesMax: Int?
    /// The network the phone is expected on; it limits the attachment to what can be fetched in the device budget.
    public var network: DeviceNetwork?
    /// Seconds a phone has for the fetch; nil for the default: 30 s of a service extension, or less for `display`.
    public var deviceBudgetSeconds: Double?
    /// Request headers: sent to the first origin only, not stored after the run, not returned in results.
    public var headers: [String: String]
    /// Scheduling and callback when the request is run as a job.
    public var jobOptions: JobOptions

    public init(source: String) {
        self.source = source
        options = RequestOptions()
        rendition = .original
        oversize = .shrink
        unsupported = .convert
        targets = RequestTargets()
        seal = false
        budgetSeconds = Limits.budgetSeconds
        headers = [:]
        jobOptions = JobOptions()
    }

    /// The pictures that are made of `source`.
    var sourceTargets: [TargetRendition] {
        targets.renditions.filter { avatar == nil || $0.key != MediaTarget.avatar.rawValue }
    }

    /// The size limit for a kind in decimal bytes: the smallest of Apple's, the caller's and what a phone can fetch.
    public func bytesMax(for kind: MediaKind) -> Int {
        min(Limits.attachmentBytesMax(kind), bytesMax ?? .max, deviceBytesMax ?? .max)
    }

    /// Decimal bytes that the phone can fetch in time; nil without a network.
    var deviceBytesMax: Int? {
        let isDisplay = rendition == .display
        let expected = network ?? (isDisplay ? .profile(.threeG) : nil)
        let seconds = deviceBudgetSeconds ?? (isDisplay ? Limits.displayDeviceBudgetSeconds : Limits.budgetSeconds)
        let reserve = isDisplay ? min(Limits.displayReserveSeconds, seconds * Limits.displayReserveShare) : 0
        return expected?.bytesMax(within: seconds - reserve)
    }

    /// Whether the app can attach a type.
    func accepts(_ type: AttachmentType) -> Bool { attachmentTypes?.contains(type) ?? true }

    /// The accepted types of a kind, for messages.
    func acceptedNames(of kind: MediaKind) -> String { attachmentTypes?.names(of: kind) ?? "" }

    /// Validates the request. Throws `request.invalid`, `options.invalid_time` or `options.invalid_size`.
    package func validate() throws {
        for row in Self.optionRows { try row.validate(self) }
        try jobOptions.validate()
        guard !seal || (targets.isEmpty && avatar == nil) else {
            throw AttachPrepError(
                .requestInvalid,
                "Sealed media is for iOS alone, since Android and browsers show pictures without opening them; leave "
                    + "out other targets and the avatar, or prepare them in a request of their own without \"seal\".")
        }
        if let id, !Self.isValid(id: id) {
            throw AttachPrepError(
                .requestInvalid,
                "The id \"\(MessageText.excerpt(id))\" is invalid; use a letter or digit, then at most 127 of "
                    + "A-Z a-z 0-9 . _ -"
            )
        }
        if let deviceBytesMax, deviceBytesMax < 1 {
            throw AttachPrepError(
                .requestInvalid,
                "A phone on that network cannot fetch any file in \(deviceBudgetSeconds ?? 0) s; allow more time.")
        }
    }

    static func isValid(id: String) -> Bool {
        let isAllowed = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        let bytes = Array(id.utf8)
        guard let first = bytes.first, bytes.count <= 128, isAllowed(first) else { return false }
        return bytes.allSatisfy {
            isAllowed($0) || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-")].contains($0)
        }
    }
}

/// The options beside `source`, `id` and those of a job.
extension AttachmentRequest: OptionHolder {
    static let standard = AttachmentRequest(source: "")

    /// The options beside "options".
    private static let rows: [OptionRow<AttachmentRequest>] = [
        OptionRow(
            "rendition", at: \.rendition, form: .choice, isAlwaysWritten: true,
            help: "Attachment to produce: original (changed as little as possible) or display (reduced to what iOS "
                + "shows)"),
        OptionRow(
            "oversize", at: \.oversize, form: .choice, isAlwaysWritten: true,
            help: "What to do with a file over the size limit: shrink or reject"),
        OptionRow(
            "unsupported", at: \.unsupported, form: .choice, isAlwaysWritten: true,
            help: "What to do with a type that iOS does not attach: convert or reject"),
        OptionRow(
            "attachmentTypes", optional: \.attachmentTypes, form: .types, valueName: "types",
            help: "Types that the app can attach, such as mp3 and mp4; a kind that is not listed is not restricted, "
                + "and a listed one needs a type that can be written: jpg, mp3 or m4a, mp4"),
        OptionRow(
            "targets", at: \.targets, form: .targets, flag: "for", valueName: "targets",
            help: "Systems that show the media: ios (always), iosSmall (a still with few bytes, for slow networks), "
                + "android, web, webBadge, avatar, or a target profile"),
        OptionRow(
            "avatar", optional: \.avatar, form: .text, valueName: "source",
            help: "Source of the sender's picture; without it, the target avatar is made of the source"),
        OptionRow(
            "seal", at: \.seal, form: .onOff,
            help: "Encrypt the files for phones that receive the payload with their secret; for iOS alone, without "
                + "other targets and avatar"),
        OptionRow(
            "budget", at: \.budgetSeconds,
            form: .seconds("budget", standard: Limits.budgetSeconds, max: Limits.budgetSecondsMax),
            isAlwaysWritten: true,
            help: "Time limit for a source"),
        OptionRow(
            "maxBytes", optional: \.bytesMax, form: .count("limit", unit: "bytes", in: 1...Int.max), valueName: "n",
            help: "Size limit of the attachment in decimal bytes, below Apple's limit"),
        OptionRow(
            "network", optional: \.network, form: .network, valueName: "network",
            help: "Limit the attachment to what a phone on this network can download: 3g, lte, wifi or kbit/s"),
        OptionRow(
            "deviceBudget", optional: \.deviceBudgetSeconds,
            form: .seconds("device budget", max: Limits.budgetSecondsMax),
            valueName: "time",
            help: "Time for the download on that network (\(Int(Limits.budgetSeconds)) s by default, "
                + "\(Int(Limits.displayDeviceBudgetSeconds)) s for the rendition display)"),
        OptionRow(
            "headers", at: \.headers, form: .headers, flag: "header", valueName: "Name: value", isAlwaysWritten: true,
            help: "HTTP headers for the download, sent to the first origin only and never returned; headers that the "
                + "service sets itself are rejected"),
    ]

    /// All options, in the order of the help.
    package static let optionRows = rows + RequestOptions.rows.map { $0.inside(\.options) }

    /// The properties of requests and of their "options" in the OpenAPI document, as one JSON object.
    package static func schemas() throws -> String {
        let members = try rows.map(\.facts).properties()
        let options = try RequestOptions.rows.map(\.facts).properties()
        return "{\"AttachmentRequest\": \(members), \"Options\": \(options)}"
    }
}

/// The JSON form, also a line of a batch list.
extension AttachmentRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case source, id, options
    }

    public init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(except: Self.keys, advice: Self.keyAdvice)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self = decoder.userInfo[.requestDefaults] as? AttachmentRequest ?? AttachmentRequest(source: "")
        source = try values.decode(String.self, forKey: .source)
        id = try values.decodeIfPresent(String.self, forKey: .id)
        options = try values.decodeIfPresent(RequestOptions.self, forKey: .options) ?? options
        let more = try decoder.container(keyedBy: AnyKey.self)
        for row in Self.rows { try row.decode(&self, more) }
        jobOptions = try JobOptions(
            from: try decoder.container(keyedBy: JobOptions.CodingKeys.self), defaults: jobOptions)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(source, forKey: .source)
        try values.encodeIfPresent(id, forKey: .id)
        try values.encode(options, forKey: .options)
        var more = encoder.container(keyedBy: AnyKey.self)
        for row in Self.rows { try row.encode(self, &more) }
        var jobValues = encoder.container(keyedBy: JobOptions.CodingKeys.self)
        try jobOptions.encode(to: &jobValues)
    }
}

extension OptionForm where Value == [String: String] {
    /// Headers: an object in JSON, and a `Name: value` for each as a flag.
    static var headers: OptionForm {
        // JSON schemas have no patterns that ignore case.
        let reserved = RequestHeaders.reserved.sorted().map { name in
            name.map { $0.isLetter ? "[\($0.uppercased())\($0)]" : "\($0)" }.joined()
        }
        var form = OptionForm(
            schema: #"""
                "type": ["object", "null"],
                "propertyNames": {
                  "pattern": "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
                  "not": {"pattern": "^(\#(reserved.joined(separator: "|")))$"}
                },
                "additionalProperties": {"type": "string", "pattern": "^[^\\x00-\\x08\\x0A-\\x1F\\x7F]*$"}
                """#,
            examples: ["Accept-Language: de"],
            parse: { text in
                guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else { return nil }
                return [String(text[..<colon]): String(text[text.index(after: colon)...].drop { $0 == " " })]
            },
            text: { $0.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "\n") },
            // Sorted, so that the same invalid header is always reported.
            validate: { _ = try RequestHeaders($0.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }) })
        form.combine = { $0.merging($1) { _, last in last } }
        return form
    }
}

extension CodingUserInfoKey {
    /// Values for keys that a request leaves out: an `AttachmentRequest`.
    static let requestDefaults: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "requestDefaults") else {
            preconditionFailure("a non-empty name makes a key")
        }
        return key
    }()
}

extension AttachmentRequest {
    /// Decodes a request from JSON; missing keys take their values from `defaults`.
    ///
    /// - Throws: `request.invalid` for anything but a valid JSON object, or the error of an invalid option.
    public init(json: [UInt8], defaults: AttachmentRequest) throws {
        try self.init(json: json, defaults: defaults, form: .whole(linesMediaType: nil))
    }

    /// - Parameter form: how the JSON was sent, for messages.
    /// - Throws: As `init(json:defaults:)`.
    package init(json: [UInt8], defaults: AttachmentRequest, form: JSONDiagnosis.Form) throws {
        let decoder = JSONDecoder()
        decoder.userInfo[.requestDefaults] = defaults
        do {
            self = try AttachPrepError.converting {
                try ForeignJSON.decode(AttachmentRequest.self, from: json, with: decoder)
            }
        } catch let error as DecodingError {
            let example = #"{"source": "https://cdn.example/photo.jpg"}"#
            throw JSONDiagnosis(of: "The request", form, example: example).error(error, in: json)
        }
    }

    /// The keys of a request's JSON.
    static let keys =
        CodingKeys.allCases.map(\.rawValue) + rows.map(\.facts.key) + JobOptions.CodingKeys.allCases.map(\.rawValue)

    private static let keyAdvice = [
        KeyAdvice(RequestOptions.keys, "it belongs in \"options\""),
        KeyAdvice(
            ["url", "uri", "src", "href", "image", "imageURL", "media", "mediaURL", "video", "videoURL", "file"],
            "the source is the key \"source\""),
        RequestOptions.sizeAdvice,
        KeyAdvice(["callback", "webhook", "webhookURL", "hook"], "the webhook's URL is the key \"callbackURL\""),
        KeyAdvice(
            ["delay", "runAt", "scheduledAt", "sendAt", "startAt"], "the earliest start is the key \"notBefore\""),
        KeyAdvice(["expiresAt", "expiration", "ttl", "until"], "the latest end is the key \"notAfter\""),
        KeyAdvice(["attempts", "maxAttempts", "retries", "maxRetries"], "it belongs in \"retry\", as \"attempts\""),
        KeyAdvice(["clippingRect", "clip"], "a cut is the key \"crop\" in \"options\""),
        KeyAdvice(["timeout", "timeoutSeconds", "budgetSeconds"], "the time limit in seconds is the key \"budget\""),
    ]
}

/// Where a request's result is stored, and a digest that tells whether an existing result matches the request.
package struct RequestIdentity: Sendable, Hashable {
    /// The caller's id, else derived from source and options, so that equal requests share one result.
    package let id: String
    /// The hash of everything that changes the result, including the state of a local file.
    package let digest: String

    /// - Parameter localState: Size and modification time of a local source; nil for a URL.
    package init(_ request: AttachmentRequest, localState: String?) throws {
        var nameless = request
        nameless.id = nil
        // Budget and job options do not change the result.
        nameless.budgetSeconds = Limits.budgetSeconds
        nameless.jobOptions = JobOptions()
        let canonical = try JSONEncoder.singleLine.encode(nameless)
        let name = SHA256.hash(data: canonical).hexadecimal
        id = request.id ?? String(name.prefix(32))
        // A name of the operator's may mean other limits tomorrow.
        let ownRows = request.targets.ownRows
        let rows = ownRows.isEmpty ? Data() : try JSONEncoder.singleLine.encode(ownRows)
        let whole = canonical + Data("\(Manifest.currentSchema) \(localState ?? "")".utf8) + rows
        digest = SHA256.hash(data: whole).hexadecimal
    }
}

extension Limits {
    /// Reserved from it for the TLS handshake, headers, the thumbnail that is fetched in parallel, and attaching.
    /// Without it, simulated phones on 3G were up to 0.3 s late.
    static let displayReserveSeconds = 0.5
    /// The largest share of a short time budget to reserve.
    static let displayReserveShare = 0.1
    /// The default time for one request, from when work on it begins: the 30 s of a service extension.
    package static let budgetSeconds = 30.0
    /// The longest accepted budget: 15 minutes.
    package static let budgetSecondsMax = 900.0
}
