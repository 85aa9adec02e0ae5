import AttachPrep
import Foundation
import RichPush
import SealedMedia
import TestSupport

/// A notification service extension as a Linux program, built by the first call with warnings as errors.
final class SimulatedDevice: Sendable {
    static var shared: SimulatedDevice { get throws { try built.get() } }

    private static let built = Result { try SimulatedDevice() }

    private let folder: TemporaryFolder

    private init() throws {
        folder = try TemporaryFolder()
        let script = SourceTree.path("tools/simulated-device")
        let result = try RunCommand(script, [folder.path], timeoutSeconds: 300).runBlocking()
        guard result.exitCode == 0 else {
            throw TestError(description: "the extension does not compile:\n\(result.text)\(result.errorText)")
        }
    }

    /// Starts it with a payload.
    func start(
        _ payload: String, in folder: TemporaryFolder, _ options: [String] = [], timeoutSeconds: Double = 60,
        environment: [String: String] = [:]
    ) throws -> RunningCommand {
        try RunCommand(
            self.folder.path("simulated-device"), ["--folder", folder.path] + options,
            environment: environment, input: Array(payload.utf8), timeoutSeconds: timeoutSeconds
        ).start()
    }

    /// Runs it with a payload to its end.
    func run(
        _ payload: String, in folder: TemporaryFolder? = nil, _ options: [String] = []
    ) async throws -> DeviceReport {
        let folder = try folder ?? TemporaryFolder()
        return try await DeviceReport(start(payload, in: folder, options).result())
    }

    /// Starts the app instead of the extension, and returns the number of reports that it could not send.
    func startApp(in folder: TemporaryFolder) async throws -> Int {
        let result = try await start("", in: folder, ["--app-start"]).result()
        guard result.exitCode == 0 else { throw TestError(description: "the app ended: \(result.errorText)") }
        return try JSONDecoder().decode([String: Int].self, from: Data(result.output))["receipts"] ?? -1
    }
}

/// The JSON report that the device prints: the displayed notification and the remaining files.
struct DeviceReport: Decodable {
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
    /// Seconds from the arrival until the notification was handed over.
    let seconds: Double
    let title: String
    let body: String
    let attachments: [Attachment]
    let left: [String]
    let receipts: Int
    let memoryStart: Int
    let memoryPeak: Int

    init(_ result: CommandResult) throws {
        guard result.exitCode == 0 else { throw TestError(description: "the device ended: \(result.errorText)") }
        self = try JSONDecoder().decode(DeviceReport.self, from: Data(result.output))
    }
}

/// A payload with the neutral object.
struct DevicePayload {
    var attachments: [String] = []
    /// The URL of the sender's picture.
    var avatar: String?
    var receipt: String?

    var text: String {
        let avatar = avatar.map { #", "avatar": {"url": "\#($0)"}"# } ?? ""
        let receipt = receipt.map { #", "receipt": \#($0)"# } ?? ""
        return """
            {"aps": {"alert": {"title": "Cats", "body": "A new one"}, "mutable-content": 1},
             "attachprep": {"attachments": [\(attachments.joined(separator: ", "))]\(avatar)\(receipt)}}
            """
    }

    static func attachment(
        _ url: String, type: String = "public.jpeg", id: String = "0", bytes: Int? = nil, sha256: String? = nil,
        options: String = "", smaller: String? = nil, thumbnail: String? = nil
    ) -> String {
        let sizes = (bytes.map { #", "bytes": \#($0)"# } ?? "") + (sha256.map { #", "sha256": "\#($0)""# } ?? "")
        let pictures =
            (smaller.map { #", "smaller": {"url": "\#($0)"}"# } ?? "")
            + (thumbnail.map { #", "thumbnail": {"url": "\#($0)"}"# } ?? "")
        return
            #"{"id": "\#(id)", "url": "\#(url)"\#(sizes), "options": {"typeHint": "\#(type)"\#(options)}\#(pictures)}"#
    }
}

/// File contents for a device, which checks only names, lengths and digests.
enum DeviceFile {
    static let image = Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    static let thumbnail = Data("a small picture".utf8)

    /// The sealed form of a file, as a server writes it.
    static func sealed(
        _ content: Data, with secret: SealedSecret, type: String = "image/jpeg", role: SealedRole = .attachment
    ) throws -> Data {
        let folder = try TemporaryFolder()
        let source = try folder.write(Array(content), to: "plain")
        let target = try folder.write([], to: "sealed")
        let input = try FileHandle(forReadingFrom: URL(filePath: source))
        let output = try FileHandle(forUpdating: URL(filePath: target))
        _ = try SealedFileWriter(secret, role: role).seal(
            input.fileDescriptor, to: output.fileDescriptor,
            record: SealedRecord(bytes: content.count, type: type, name: "attachment.jpg"))
        return Data(try folder.bytes(of: "sealed"))
    }

    static func sha256(_ data: Data) throws -> String {
        let folder = try TemporaryFolder()
        try folder.write(Array(data), to: "file")
        let result = try RunCommand("sha256sum", [folder.path("file")]).runBlocking()
        return String(result.text.prefix(64))
    }
}
