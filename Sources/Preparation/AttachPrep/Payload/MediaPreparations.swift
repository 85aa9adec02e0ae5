import AttachPrepModel
import MediaEngine
import PushPayload
public import RichPush

/// The requests for the media of one payload: one for each source, with the pictures that the payload has a place for.
struct MediaPreparations: Sendable {
    private let media: PayloadMedia
    private var requests: [AttachmentRequest] = []
    /// The index of each item's request; nil for an item that is not fetched.
    private var items: [Int?] = []
    private var otherItems: [Int?] = []

    init(of media: PayloadMedia, targets: Set<MediaTarget>, template: AttachmentRequest) {
        self.media = media
        for (number, item) in media.items.enumerated() {
            guard case .url(let source) = item.address else {
                items.append(nil)
                continue
            }
            var request = template.applying(for: source, of: item, dialect: media.dialect)
            if item.location.sharing == .always { request.targets.insert(.android) }
            if number > 0 { request.avatar = nil }
            items.append(index(of: request))
        }
        for item in media.otherItems {
            guard case .url(let source) = item.address, targets.contains(item.location.target) || item.isAlwaysRead,
                let key = item.location.target.renditionKey(for: item.location.role)
            else {
                otherItems.append(nil)
                continue
            }
            otherItems.append(index(of: source, with: key, template))
        }
        guard let id = template.id, requests.count > 1 else { return }
        for number in requests.indices { requests[number].id = "\(id)-\(number)" }
    }

    private mutating func index(of request: AttachmentRequest) -> Int {
        if let known = requests.firstIndex(of: request) { return known }
        requests.append(request)
        return requests.count - 1
    }

    /// The request for a source of another system; a source that iOS shows as well is downloaded once.
    private mutating func index(of source: String, with key: String, _ template: AttachmentRequest) -> Int {
        let known = requests.firstIndex { $0.source.utf8.elementsEqual(source.utf8) }
        if known == nil {
            var request = template
            (request.source, request.targets, request.avatar) = (source, RequestTargets(), nil)
            requests.append(request)
        }
        let index = known ?? requests.count - 1
        requests[index].targets.insert(picture: key)
        return index
    }
}

/// Preparation: all requests at once, since there are few and each waits for its own media slot.
extension MediaPreparations {
    func results(
        _ prepare: @escaping @Sendable (AttachmentRequest) async throws -> Manifest
    ) async throws -> MediaResults {
        let manifests = try await requests.concurrentlyMapped(atMost: max(1, requests.count), prepare)
        var results = MediaResults()
        for (item, index) in zip(media.items, items) {
            guard let index else {
                results.items.append(MediaResult(prepared: .untouched))
                continue
            }
            results.items.append(
                try await result(of: item, manifest: manifests[index], request: requests[index], prepare))
        }
        for index in otherItems {
            let manifest = index.map { manifests[$0] }
            results.otherItems.append(manifest.map(MediaResult.init) ?? MediaResult(prepared: .untouched))
        }
        return results
    }

    /// The result of an item; if its URL failed, that of its fallback.
    private func result(
        of item: PayloadMediaItem, manifest: Manifest, request: AttachmentRequest,
        _ prepare: (AttachmentRequest) async throws -> Manifest
    ) async throws -> MediaResult {
        let first = MediaResult(manifest)
        guard case .failed(let error) = first.prepared, let fallback = item.fallbackURL else { return first }
        var request = request
        request.source = fallback
        let second = try await prepare(request)
        let prepared: PreparedMedia = second.undelivered == nil ? .fallback(second) : .failed(error)
        return MediaResult(prepared: prepared, manifests: [manifest, second])
    }
}

/// The result for one item, with the manifests that led to it.
struct MediaResult: Sendable {
    var prepared: PreparedMedia
    var manifests: [Manifest] = []

    var isFailed: Bool {
        if case .failed = prepared { true } else { false }
    }
}

extension MediaResult {
    init(_ manifest: Manifest) {
        self.init(
            prepared: manifest.undelivered.map(PreparedMedia.failed) ?? .ready(manifest), manifests: [manifest])
    }
}

/// The results for the media of one payload, in its order.
struct MediaResults: Sendable {
    var items: [MediaResult] = []
    var otherItems: [MediaResult] = []

    /// Whether the media that is shown can be delivered: the first one. The others are shown only after it, or when it
    /// fails on the device.
    var isComplete: Bool { (items.first ?? otherItems.first)?.isFailed != true }

    /// Each manifest once.
    var manifests: [Manifest] {
        (items + otherItems).flatMap(\.manifests).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Warnings about thumbnail times past the end of the media: another time is written into the payload.
    var timeWarnings: [PayloadWarning] {
        items.flatMap { $0.manifests.last?.warnings ?? [] }.filter { $0.code == .timePastEnd }
            .map { PayloadWarning(.optionInvalid, $0.message) }
    }
}

extension Manifest {
    /// Why a phone cannot fetch the attachment; nil when it can.
    fileprivate var undelivered: ManifestError? {
        if let error { return error }
        guard attachment?.url == nil else { return nil }
        return ManifestError(
            AttachPrepError(
                .internal, "The attachment has no public URL; try again.", detail: "a manifest without a URL"))
    }
}

extension PayloadMediaItem {
    /// Whether its system reads the value in any case, whether the request names the system or not.
    fileprivate var isAlwaysRead: Bool { location.sharing == .always }
}

extension AttachmentRequest {
    /// The request for one piece of media: options from the payload, else those of this template.
    ///
    /// The types that the service's SDK saves correctly are required, unless this template has its own.
    fileprivate func applying(
        for source: String, of item: PayloadMediaItem, dialect: PayloadDialect
    ) -> AttachmentRequest {
        var request = self
        request.source = source
        if attachmentTypes == nil, !dialect.attachmentTypes.isEmpty {
            request.attachmentTypes = AcceptedTypes(dialect.attachmentTypes)
        }
        if let rect = item.options.clippingRect { request.options.crop = .part(rect) }
        if let time = item.options.thumbnailTime { request.options.thumbnailTime = .at(time) }
        if let isHidden = item.options.thumbnailHidden { request.options.thumbnailHidden = isHidden }
        return request
    }
}

extension RequestTargets {
    /// Adds one picture of a target.
    fileprivate mutating func insert(picture key: String) {
        // The keys of pictures are names that every request can have.
        self = (try? RequestTargets(names: [MediaTarget.ios.rawValue] + names + [key])) ?? self
    }

    /// The systems that are named, by their own name or that of one of their pictures.
    public var systems: Set<MediaTarget> {
        Set(
            MediaTarget.allCases.filter { target in
                contains(target)
                    || MediaTarget.Role.allCases.contains { role in
                        target.renditionKey(for: role).map(names.contains) ?? false
                    }
            })
    }
}
