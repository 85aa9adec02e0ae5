import Foundation

/// A real S3 endpoint on loopback that checks signatures: OpenStack Swift, started once for all tests of a run.
///
/// It ends with this process. Tests share its bucket and use different prefixes.
public final class ObjectStore: Sendable {
    public let url: String
    /// The bucket that exists at the start.
    public static let bucket = "media"
    private let folder: TemporaryFolder
    private let running: RunningCommand

    /// The variables that a program needs to write to it.
    public var environment: [String: String] {
        [
            "AWS_ACCESS_KEY_ID": "test:tester", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_ENDPOINT_URL_S3": url,
            "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": folder.path("none"),
            "AWS_SHARED_CREDENTIALS_FILE": folder.path("none"),
        ]
    }

    private static let started = Result { try ObjectStore() }

    /// The instance of this run. The first call starts it, which takes some seconds.
    public static func shared() async throws -> ObjectStore {
        try await onOwnThread { try started.get() }
    }

    private init() throws {
        folder = try TemporaryFolder()
        running = try RunCommand(
            SourceTree.path("tools/s3-endpoint"), [folder.path], timeoutSeconds: 3_600
        ).start()
        let limit = Date(timeIntervalSinceNow: 120)
        let pause = NSCondition()
        var line = ""
        while !line.hasPrefix("ready "), Date.now < limit, running.isRunning {
            pause.withLock { _ = pause.wait(until: Date(timeIntervalSinceNow: 0.05)) }
            line = try running.textSoFar()
        }
        guard line.hasPrefix("ready ") else {
            throw CommandError(
                description: "tools/s3-endpoint did not start; `make deps-test` installs what it runs: "
                    + (try running.errorTextSoFar()))
        }
        url = line.dropFirst("ready ".count).trimmingCharacters(in: .newlines)
    }

    deinit {
        running.send(SIGTERM)
    }

    /// An object as received by curl.
    public struct Object: Sendable {
        public let status: Int
        /// Names in lowercase.
        public let headers: [String: String]
        public let body: [UInt8]
    }

    /// The object at a key, percent-encoded by the caller; requested with a signature by curl.
    public func object(_ key: String) async throws -> Object { try await request("/\(Self.bucket)/\(key)") }

    /// The keys below a prefix.
    public func keys(below prefix: String) async throws -> [String] {
        let body = String(decoding: try await request("/\(Self.bucket)?prefix=\(prefix)").body, as: UTF8.self)
        return body.components(separatedBy: "<Key>").dropFirst().map { String($0.prefix { $0 != "<" }) }
    }

    /// The keys of multipart uploads that were neither completed nor aborted.
    public func unfinished(below prefix: String) async throws -> [String] {
        let body = String(
            decoding: try await request("/\(Self.bucket)?prefix=\(prefix)&uploads=").body, as: UTF8.self)
        return body.components(separatedBy: "<Key>").dropFirst().map { String($0.prefix { $0 != "<" }) }
    }

    /// Deletes an object, as a lifecycle rule would.
    public func remove(_ key: String) async throws { _ = try await request("/\(Self.bucket)/\(key)", "DELETE") }

    private func request(_ path: String, _ method: String = "GET") async throws -> Object {
        let own = try TemporaryFolder()
        // The digest of an empty body.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let result = try await RunCommand(
            "curl",
            [
                "--silent", "--show-error", "--request", method, "--netrc-file", folder.path("netrc"), "--aws-sigv4",
                "aws:amz:us-east-1:s3", "--header", "x-amz-content-sha256: \(empty)", "--dump-header",
                own.path("head"), "--output", own.path("body"), "--write-out", "%{http_code}", url + path,
            ]
        ).run()
        guard result.exitCode == 0, let status = Int(result.text) else {
            throw CommandError(description: "curl \(path): \(result.errorText)")
        }
        var headers: [String: String] = [:]
        for line in String(decoding: try own.bytes(of: "head"), as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] =
                line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        return Object(status: status, headers: headers, body: (try? own.bytes(of: "body")) ?? [])
    }
}
