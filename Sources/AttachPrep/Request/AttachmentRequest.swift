public import RichPush

/// What the caller wants: a source, options, a policy and a budget. Only the source is required.
///
/// ```swift
/// var request = AttachmentRequest(source: "https://cdn.example/cat.webp")
/// request.options.crop = try ClippingRect(x: 0.25, y: 0, width: 0.5, height: 1)
/// ```
public struct AttachmentRequest: Sendable, Hashable {
    /// What to do with an attachable file over its limit.
    public enum Oversize: String, Codable, Sendable, Hashable, CaseIterable {
        case shrink
        case reject
    }

    /// What to do with media that iOS does not attach.
    public enum Unsupported: String, Codable, Sendable, Hashable, CaseIterable {
        case convert
        case reject
    }

    /// A URL; on the command line also a path or a file URL.
    public var source: String
    /// The caller's name for the result: a letter or digit, then up to 127 letters, digits, dots, dashes, underscores.
    public var id: String?
    public var options: RequestOptions
    public var rendition: RequestedRendition
    public var oversize: Oversize
    public var unsupported: Unsupported
    /// Seconds, from when work on the request begins.
    public var budgetSeconds: Double
    /// A limit of the caller's, below Apple's; decimal bytes.
    public var bytesMax: Int?
    /// The network the phone is expected on; the attachment is made small enough to be fetched over it in time.
    public var network: DeviceNetwork?
    /// Seconds a phone on that network has; nil for what a service extension has, or for what a display should take.
    public var deviceBudgetSeconds: Double?
    /// Sent to the first origin only, kept for the run only, never returned.
    public var headers: [String: String]
    /// When it is worked on as a job, and who is told.
    public var terms: JobTerms

    public init(source: String) {
        self.source = source
        options = RequestOptions()
        rendition = .original
        oversize = .shrink
        unsupported = .convert
        budgetSeconds = Limits.budgetSeconds
        headers = [:]
        terms = JobTerms()
    }

    /// The limit an attachment of a kind is held to, in decimal bytes: Apple's, the caller's, what a phone can fetch.
    public func bytesMax(for kind: MediaKind) -> Int {
        min(Limits.attachmentBytesMax(kind), bytesMax ?? .max, deviceBytesMax ?? .max)
    }

    /// What the phone can fetch in time; nil when no network is named.
    var deviceBytesMax: Int? {
        let isDisplay = rendition == .display
        let expected = network ?? (isDisplay ? .profile(.threeG) : nil)
        let seconds = deviceBudgetSeconds ?? (isDisplay ? Limits.displayDeviceBudgetSeconds : Limits.budgetSeconds)
        // Bounded: floating-point numbers.
        let reserve = isDisplay ? min(Limits.displayReserveSeconds, seconds * Limits.displayReserveShare) : 0
        // Bounded: floating-point numbers.
        return expected?.bytesMax(within: seconds - reserve)
    }

    /// Throws `request.invalid`, `options.invalid_time` or `options.invalid_size` for what cannot be meant.
    package func validate() throws {
        try options.validate()
        try terms.validate()
        if let id, !Self.isValid(id: id) {
            throw AttachPrepError(
                .requestInvalid,
                "The id \"\(id)\" is not usable; begin with a letter or digit, then at most 127 of A-Z a-z 0-9 . _ -")
        }
        guard budgetSeconds > 0, budgetSeconds <= Limits.budgetSecondsMax else {
            throw AttachPrepError(
                .requestInvalid, "The budget \(budgetSeconds) s is not over 0 and at most \(Limits.budgetSecondsMax) s."
            )
        }
        if let bytesMax, bytesMax < 1 {
            throw AttachPrepError(.requestInvalid, "The limit of \(bytesMax) bytes is not over 0.")
        }
        if let seconds = deviceBudgetSeconds, !(seconds > 0 && seconds <= Limits.budgetSecondsMax) {
            throw AttachPrepError(
                .requestInvalid,
                "The device budget \(seconds) s is not over 0 and at most \(Limits.budgetSecondsMax) s.")
        }
        if let deviceBytesMax, deviceBytesMax < 1 {
            throw AttachPrepError(
                .requestInvalid,
                "A phone on that network cannot fetch anything within \(deviceBudgetSeconds ?? 0) s; give more time.")
        }
        // Refused here already, not when the download begins; always the same one of several.
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

/// As a line of a batch list: DESIGN 4.0.
extension AttachmentRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case source, id, options, rendition, oversize, unsupported, budget, maxBytes, network, deviceBudget, headers
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(
            // Bounded: lists.
            except: CodingKeys.allCases.map(\.rawValue) + JobTerms.CodingKeys.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self = decoder.userInfo[.requestDefaults] as? AttachmentRequest ?? AttachmentRequest(source: "")
        source = try values.decode(String.self, forKey: .source)
        id = try values.decodeIfPresent(String.self, forKey: .id)
        options = try values.decodeIfPresent(RequestOptions.self, forKey: .options) ?? options
        rendition = try values.decodeIfPresent(RequestedRendition.self, forKey: .rendition) ?? rendition
        oversize = try values.decodeIfPresent(Oversize.self, forKey: .oversize) ?? oversize
        unsupported = try values.decodeIfPresent(Unsupported.self, forKey: .unsupported) ?? unsupported
        budgetSeconds = try values.decodeIfPresent(Double.self, forKey: .budget) ?? budgetSeconds
        bytesMax = try values.decodeIfPresent(Int.self, forKey: .maxBytes) ?? bytesMax
        network = try values.decodeIfPresent(DeviceNetwork.self, forKey: .network) ?? network
        deviceBudgetSeconds =
            try values.decodeIfPresent(Double.self, forKey: .deviceBudget) ?? deviceBudgetSeconds
        headers = try values.decodeIfPresent([String: String].self, forKey: .headers) ?? headers
        terms = try JobTerms(from: try decoder.container(keyedBy: JobTerms.CodingKeys.self), defaults: terms)
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(source, forKey: .source)
        try values.encodeIfPresent(id, forKey: .id)
        try values.encode(options, forKey: .options)
        try values.encode(rendition, forKey: .rendition)
        try values.encode(oversize, forKey: .oversize)
        try values.encode(unsupported, forKey: .unsupported)
        try values.encode(budgetSeconds, forKey: .budget)
        try values.encodeIfPresent(bytesMax, forKey: .maxBytes)
        try values.encodeIfPresent(network, forKey: .network)
        try values.encodeIfPresent(deviceBudgetSeconds, forKey: .deviceBudget)
        try values.encode(headers, forKey: .headers)
        var more = encoder.container(keyedBy: JobTerms.CodingKeys.self)
        try terms.encode(to: &more)
    }
}
