import AttachPrep
import Logging
import RichPush

/// Whether results can be published where they are meant to go.
struct TargetFinding: Codable, Sendable {
    /// Why not, with the remedy; nil when they can.
    let fault: String?

    var isReady: Bool { fault == nil }

    /// Begins an upload there, and takes it back.
    init(trying place: PublishPlace, _ logger: Logger) async {
        do {
            try await place.probe(logger: logger)
            fault = nil
        } catch {
            logger.debug("the bucket", metadata: ["error": "\(error)"])
            fault = (error as? AttachPrepError)?.message ?? "\(error)"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case isReady, fault
    }

    init(from decoder: any Decoder) throws {
        fault = try decoder.container(keyedBy: CodingKeys.self).decodeIfPresent(String.self, forKey: .fault)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(isReady, forKey: .isReady)
        try values.encode(fault, forKey: .fault)
    }
}
