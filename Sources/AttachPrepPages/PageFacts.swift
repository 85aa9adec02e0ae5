import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the scripts of all pages know of phones and networks: the tables that the rest of the product uses as well.
struct PageFacts: Encodable {
    struct Network: Encodable {
        let name: String
        let label: String
        let bitsPerSecond: Double
        let roundTripSeconds: Double
    }

    /// What a service extension is promised, and what phones were seen to give it.
    let secondsGiven = Limits.deviceBudgetSeconds
    let secondsMeasured = Limits.displayDeviceBudgetSeconds
    /// Bytes of the longest file that iOS attaches, by MIME type.
    let attachable = Dictionary(AttachmentType.allCases.map { ($0.mimeType, $0.bytesMax) }) { first, _ in first }
    /// The words of a notification whose own nobody knows.
    let sample = NotificationText.sample
    let networks = NetworkProfile.allCases.map { profile in
        Network(
            name: profile.rawValue, label: profile.label, bitsPerSecond: profile.bitsPerSecond,
            roundTripSeconds: profile.roundTripSeconds)
    }

    /// A line of script that names them.
    static var script: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and words of our own: there is nothing that cannot be encoded.
        let json = (try? encoder.encode(PageFacts())).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        // The first statement of every script: it holds for all that follows.
        return "\"use strict\";\nconst attachprepFacts = Object.freeze(\(json));\n"
    }
}

extension NetworkProfile {
    /// As people call it.
    fileprivate var label: String {
        switch self {
        case .threeG: "3G"
        case .lte: "LTE"
        case .wifi: "Wi-Fi"
        }
    }
}
