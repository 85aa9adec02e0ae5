/// Where senders put an APNs payload inside what another service is sent.
enum PayloadEnvelope {
    /// Not at all, and then: FCM's HTTP API with and without `message`, Amazon SNS for both of Apple's environments,
    /// Pusher Beams (its API has the APNs payload in `apns`).
    static let roots: [PayloadPath] = [
        PayloadPath(), PayloadPath([.key("message"), .key("apns"), .key("payload")]),
        PayloadPath([.key("apns"), .key("payload")]), PayloadPath([.key("APNS"), .text]),
        PayloadPath([.key("APNS_SANDBOX"), .text]), PayloadPath([.key("apns")]),
    ]

    /// Where the same message stands once more, for Apple's other environment.
    static func sandbox(of root: PayloadPath) -> PayloadPath? {
        root == PayloadPath([.key("APNS"), .text]) ? PayloadPath([.key("APNS_SANDBOX"), .text]) : nil
    }
}

extension PayloadDialect {
    /// The same dialect inside an envelope.
    func inside(_ root: PayloadPath) -> PayloadDialect {
        root.steps.isEmpty
            ? self
            : PayloadDialect(
                name, service: service, choice: choice,
                marks: marks.map { DialectMark($0.pattern.inside(root), prefix: $0.prefix) },
                places: places.map { $0.inside(root) })
    }
}

extension MediaPlace {
    fileprivate func inside(_ envelope: PayloadPath) -> MediaPlace {
        MediaPlace(
            address.inside(envelope), fields.mapValues { $0.inside(envelope) },
            otherFields: otherFields.map { $0.mapValues { $0.inside(envelope) } },
            thumbnailID: thumbnailID?.inside(envelope),
            companions: companions.map { $0.inside(envelope) },
            fallbackMoves: fallbackMoves.map {
                FallbackMove(from: $0.from.inside(envelope), to: $0.to.inside(envelope))
            }, types: types, keys: keys, namesLocalFiles: namesLocalFiles,
            root: PayloadPath(envelope.steps + root.steps), isRequest: isRequest)
    }
}

extension PayloadPattern {
    fileprivate func inside(_ envelope: PayloadPath) -> PayloadPattern {
        PayloadPattern(
            envelope.steps.compactMap { step in
                switch step {
                case .key(let key): .key(key)
                case .text: .text
                case .index: nil
                }
            } + steps)
    }
}
