import Foundation

/// Opens sealed files with `samples/sealed/open_sealed.py`, which shares no code with the product.
public enum SealedFileDecoder {
    public struct Opened: Sendable, Equatable {
        public let content: Data
        public let type: String
        public let name: String

        public init(content: Data, type: String, name: String) {
            (self.content, self.type, self.name) = (content, type, name)
        }
    }

    /// A file that the decoder refuses, with its message.
    public struct RefusedError: Error, CustomStringConvertible {
        public let description: String
    }

    /// - Parameters:
    ///   - secret: The text of the secret, as in a manifest.
    ///   - role: `attachment`, `thumbnail` or `crop`.
    /// - Throws: `RefusedError`.
    public static func open(_ sealed: Data, secret: String, as role: String) async throws -> Opened {
        // The Python environment with the package `cryptography` that make deps-test installs.
        let installed = try await RunCommand(SourceTree.path("tools/fake-apns/install"), timeoutSeconds: 300).run()
        guard let python = installed.lines.last else { throw TestError(description: installed.errorText) }
        let folder = try TemporaryFolder()
        let file = try folder.write(Array(sealed), to: "sealed")
        let script = SourceTree.path("samples/sealed/open_sealed.py")
        let result = try await RunCommand(python, ["-B", script, secret, role, file, folder.path("opened")]).run()
        guard result.exitCode == 0 else { throw RefusedError(description: result.errorText) }
        let record = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any] ?? [:]
        return Opened(
            content: Data(try folder.bytes(of: "opened")), type: record["type"] as? String ?? "",
            name: record["name"] as? String ?? "")
    }
}
