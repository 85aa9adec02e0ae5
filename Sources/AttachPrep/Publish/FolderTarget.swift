import Glibc
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Results as folders on this machine: the staging folder itself, renamed into place.
struct FolderTarget: PublishTarget {
    let output: String
    /// Where that folder is served.
    let baseURL: String?
    let blocking: BlockingLane

    func reserveSeconds(ofBudget budgetSeconds: Double) -> Double {
        // Bounded: floating-point numbers.
        min(Limits.publishReserveSeconds, budgetSeconds * Limits.publishReserveShare)
    }

    func url(of file: String, in result: String) -> String? {
        baseURL.map { PublicURL.of(file, in: result, below: $0) }
    }

    /// They lie beside the manifest, and come with it.
    func bring(_ result: FinishedResult) async throws {}

    // Nothing is asked of the network here, so there is nothing to cancel.
    func complete(_ result: FinishedResult) async throws {
        try await blocking.run {
            try result.staging.write(result.manifest)
            try result.staging.publish(as: result.folder ?? result.manifest.id)
        }
    }

    func standing(_ id: String) async -> Manifest? {
        let folder = "\(output)/\(id)"
        return try? await blocking.run {
            guard let data = FileManager.default.contents(atPath: "\(folder)/\(Manifest.fileName)"),
                let manifest = try? Manifest(json: data)
            else { return nil }
            return manifest.fileNames.allSatisfy { unsafe access("\(folder)/\($0)", R_OK) == 0 } ? manifest : nil
        }
    }

    var keepsFolders: Bool { true }

    /// The first request makes the folder, and says what is wrong with it.
    func probe() async throws {}

    func shutdown() async {}
}

/// The addresses of a result's files. Pure.
enum PublicURL {
    /// `https://media.example/push` makes `https://media.example/push/<id>/<file>`.
    static func of(_ file: String, in result: String, below base: String) -> String {
        base.hasSuffix("/") ? "\(base)\(result)/\(file)" : "\(base)/\(result)/\(file)"
    }
}
