import Foundation
import TestSupport

/// The sample extension as a program for Linux: built once, warnings being errors, by whoever needs it first.
final class BuiltDevice: Sendable {
    static var shared: BuiltDevice { get throws { try built.get() } }

    private static let built = Result { try BuiltDevice() }

    private let folder: TemporaryFolder

    private init() throws {
        folder = try TemporaryFolder()
        let script = SourceTree.path("tools/simulated-device")
        let result = try RunCommand(script, [folder.path], timeoutSeconds: 300).runBlocking()
        guard result.exitCode == 0 else {
            throw FactMissing(description: "the sample does not compile:\n\(result.text)\(result.errorText)")
        }
    }

    /// Starts it on a payload.
    func start(_ payload: String, in folder: TemporaryFolder, _ options: [String] = []) throws -> RunningCommand {
        try RunCommand(
            self.folder.path("simulated-device"), ["--folder", folder.path] + options,
            input: Array(payload.utf8), timeoutSeconds: 60
        ).start()
    }

    /// Runs it on a payload until its end.
    func run(_ payload: String, in folder: TemporaryFolder? = nil, _ options: [String] = []) async throws -> Shown {
        let folder = try folder ?? TemporaryFolder()
        return try await Shown(start(payload, in: folder, options).result())
    }
}

/// What the device showed: the line that it prints.
struct Shown: Decodable {
    struct Attachment: Decodable {
        let identifier: String
        let file: String
        let uti: String
        let bytes: Int
        let sha256: String
        let options: Options
    }

    struct Options: Decodable {
        let typeHint: String
        let thumbnailHidden: Bool?
        let thumbnailClippingRect: [String: Double]?
        let thumbnailTime: [String: String]?
    }

    let handedOver: Int
    let title: String
    let body: String
    let attachments: [Attachment]
    let left: [String]
    let receipts: Int
    let memoryStart: Int
    let memoryPeak: Int

    init(_ result: CommandResult) throws {
        guard result.exitCode == 0 else { throw FactMissing(description: "the device ended: \(result.errorText)") }
        self = try JSONDecoder().decode(Shown.self, from: Data(result.output))
    }
}
