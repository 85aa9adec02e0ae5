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
        try options.validate()
        try jobOptions.validate()
        try attachmentTypes?.validate()
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
        guard budgetSeconds > 0, budgetSeconds <= Limits.budgetSecondsMax else {
            throw AttachPrepError(
                .requestInvalid,
                "The budget of \(budgetSeconds) s must be over 0 and at most \(Limits.budgetSecondsMax) s.")
        }
        if let bytesMax, bytesMax < 1 {
            throw AttachPrepError(.requestInvalid, "The limit of \(bytesMax) bytes must be at least 1.")
        }
        if let seconds = deviceBudgetSeconds, !(seconds > 0 && seconds <= Limits.budgetSecondsMax) {
            throw AttachPrepError(
                .requestInvalid,
                "The device budget of \(seconds) s must be over 0 and at most \(Limits.budgetSecondsMax) s.")
        }
        if let deviceBytesMax, deviceBytesMax < 1 {
            throw AttachPrepError(
                .requestInvalid,
                "A phone on that network cannot fetch any file in \(deviceBudgetSeconds ?? 0) s; allow more time.")
        }
        // Validated here, before the download begins; sorted, so that the same invalid header is always reported.
        _ = try RequestHeaders(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
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

/// The JSON form, also a line of a batch list.
extension AttachmentRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case source, id, options, rendition, oversize, unsupported, attachmentTypes, targets, avatar, seal, budget
        case maxBytes, network, deviceBudget, headers
    }

    public init(from decoder: any Decoder) throws {
        try decoder.rejectUnknownKeys(except: Self.keys, advice: Self.keyAdvice)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self = decoder.userInfo[.requestDefaults] as? AttachmentRequest ?? AttachmentRequest(source: "")
        source = try values.decode(String.self, forKey: .source)
        id = try values.decodeIfPresent(String.self, forKey: .id)
        options = try values.decodeIfPresent(RequestOptions.self, forKey: .options) ?? options
        rendition = try values.decodeIfPresent(RequestedRendition.self, forKey: .rendition) ?? rendition
        oversize = try values.decodeIfPresent(Oversize.self, forKey: .oversize) ?? oversize
        unsupported = try values.decodeIfPresent(Unsupported.self, forKey: .unsupported) ?? unsupported
        attachmentTypes = try values.decodeIfPresent(AcceptedTypes.self, forKey: .attachmentTypes) ?? attachmentTypes
        targets = try values.decodeIfPresent(RequestTargets.self, forKey: .targets) ?? targets
        avatar = try values.decodeIfPresent(String.self, forKey: .avatar) ?? avatar
        seal = try values.decodeIfPresent(Bool.self, forKey: .seal) ?? seal
        budgetSeconds = try values.decodeIfPresent(Double.self, forKey: .budget) ?? budgetSeconds
        bytesMax = try values.wholeNumber(forKey: .maxBytes) ?? bytesMax
        network = try values.decodeIfPresent(DeviceNetwork.self, forKey: .network) ?? network
        deviceBudgetSeconds =
            try values.decodeIfPresent(Double.self, forKey: .deviceBudget) ?? deviceBudgetSeconds
        headers = try values.decodeIfPresent([String: String].self, forKey: .headers) ?? headers
        jobOptions = try JobOptions(
            from: try decoder.container(keyedBy: JobOptions.CodingKeys.self), defaults: jobOptions)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(source, forKey: .source)
        try values.encodeIfPresent(id, forKey: .id)
        try values.encode(options, forKey: .options)
        try values.encode(rendition, forKey: .rendition)
        try values.encode(oversize, forKey: .oversize)
        try values.encode(unsupported, forKey: .unsupported)
        try values.encodeIfPresent(attachmentTypes, forKey: .attachmentTypes)
        if !targets.isEmpty { try values.encode(targets, forKey: .targets) }
        try values.encodeIfPresent(avatar, forKey: .avatar)
        if seal { try values.encode(seal, forKey: .seal) }
        try values.encode(budgetSeconds, forKey: .budget)
        try values.encodeIfPresent(bytesMax, forKey: .maxBytes)
        try values.encodeIfPresent(network, forKey: .network)
        try values.encodeIfPresent(deviceBudgetSeconds, forKey: .deviceBudget)
        try values.encode(headers, forKey: .headers)
        var more = encoder.container(keyedBy: JobOptions.CodingKeys.self)
        try jobOptions.encode(to: &more)
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
    static let keys = CodingKeys.allCases.map(\.rawValue) + JobOptions.CodingKeys.allCases.map(\.rawValue)

    private static let keyAdvice = [
        KeyAdvice(RequestOptions.keys, "it belongs in \"options\""),
        KeyAdvice(
            ["url", "uri", "src", "href", "image", "imageURL", "media", "mediaURL", "video", "videoURL", "file"],
            "the source is the key \"source\""),
        RequestOptions.sizeAdvice,
        KeyAdvice(["callback", "webhook", "webhookURL", "hook"], "the webhook's URL is the key \"callbackURL\""),
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
