/// Media that stands where other dialects look: it stays as it is, so the sender should know.
enum OtherMedia {
    /// A warning for each place, but for those that the dialect itself knows of.
    static func warnings(
        in payload: PayloadValue, besides items: [PayloadMediaItem], of dialect: PayloadDialect, at root: PayloadPath
    ) -> [PayloadWarning] {
        var seen = ownPaths(of: dialect, in: payload).union(items.map(\.path))
        var warnings: [PayloadWarning] = []
        for other in PayloadDialect.all where other.name != dialect.name {
            for item in MediaReading(other, in: payload).items where isURL(item) && seen.insert(item.path).inserted {
                guard warnings.count < Limits.payloadOtherMediaMax else { return warnings }
                let place = SpokenText.path(PayloadPath(root.steps + item.path.steps))
                warnings.append(
                    PayloadWarning(
                        .otherMedia,
                        "\(place) has media as well, as \(other.name) writes it, and stays as it "
                            + "is; leave it out, or take it instead with the dialect \(other.name)."))
            }
        }
        return warnings
    }

    /// A warning for each envelope that holds media besides: a message may be written for several services.
    ///
    /// - Parameter known: where the media stands that was found, from the top of what was handed over.
    static func warnings(
        in payload: PayloadValue, envelopes roots: [PayloadPath], besides known: Set<PayloadPath>,
        reading: (PayloadValue) -> [PayloadMediaItem]
    ) -> [PayloadWarning] {
        roots.compactMap { root in
            guard let inner = payload.standing(at: root), inner.members != nil,
                let item = reading(inner).first(where: {
                    isURL($0) && !known.contains(PayloadPath(root.steps + $0.path.steps))
                })
            else { return nil }
            return PayloadWarning(
                .otherMedia,
                "\(SpokenText.path(PayloadPath(root.steps + item.path.steps))) has media as well and stays as it is; "
                    + "hand over one payload at a time to have each prepared.")
        }
    }

    private static func isURL(_ item: PayloadMediaItem) -> Bool {
        if case .url = item.address { true } else { false }
    }

    /// Where the dialect may have media, read or not: all of its places, and what stands in for them.
    private static func ownPaths(of dialect: PayloadDialect, in payload: PayloadValue) -> Set<PayloadPath> {
        let patterns = dialect.places.flatMap { place in
            [place.address.withAllElements, place.fields[.fallbackURL]].compactMap(\.self)
        }
        return Set(patterns.flatMap { $0.matches(in: payload, countMax: countMax).map(\.path) })
    }

    /// Far more than any service writes; what is beyond may be warned of.
    private static let countMax = 1_000
}

extension PayloadPattern {
    /// With those elements of arrays that the service does not look at.
    fileprivate var withAllElements: PayloadPattern { PayloadPattern(steps.map { $0 == .first ? .each : $0 }) }
}
