public import MediaEngine
public import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What `attachprep inspect` says of a source.
public struct InspectionReport: Sendable, Hashable {
    public let source: ManifestSource
    /// Nil when the source could not be fetched or is not sound media.
    public let media: InspectedMedia?
    public let plan: PreparationPlan
}

/// `{"source", "media", "plan": {"outcome", "reasons", "steps"}}`, with every key always present.
extension InspectionReport: Encodable {
    private enum CodingKeys: String, CodingKey {
        case source, media, plan
    }

    private enum PlanKeys: String, CodingKey {
        case outcome, reasons, steps
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(source, forKey: .source)
        try values.encode(media, forKey: .media)
        var planned = values.nestedContainer(keyedBy: PlanKeys.self, forKey: .plan)
        try planned.encode(plan.outcome, forKey: .outcome)
        try planned.encode(plan.reasons, forKey: .reasons)
        try planned.encode(plan.steps, forKey: .steps)
    }

    /// One line of JSON, keys in alphabetical order.
    public func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
