// Prepares one source with attachprep and downloads the attachment. Needs Foundation and swift-crypto.
//
//   ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... swift run prepare https://cdn.example/cat.webp [FOLDER]
//   swift run prepare verify SECRET WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < BODY

import Crypto
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct Manifest: Decodable {
    struct File: Decodable {
        var file: String
        var url: URL
        var sha256: String
        var bytes: Int
    }

    struct JobError: Decodable {
        var code: String
        var message: String
    }

    var outcome: String
    var attachment: File?
    var error: JobError?
}

struct Job: Decodable {
    var id: String
    var state: String
    var result: Manifest?
}

struct ClientError: Error, CustomStringConvertible {
    var description: String
}

struct Client {
    var url: URL
    var token: String?

    /// Returns the manifest. Retries while the service is busy, with the same key, so that only one job is created.
    func prepare(_ source: String) async throws -> Manifest {
        let headers = ["Idempotency-Key": UUID().uuidString, "Prefer": "wait=20"]
        while true {
            let (body, answer) = try await send("POST", "v1/jobs", ["source": source], headers)
            switch answer.statusCode {
            case 200: return try JSONDecoder().decode(Manifest.self, from: body)
            case 202: return try await manifest(of: JSONDecoder().decode(Job.self, from: body).id)
            case 429, 503:
                let seconds = answer.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) } ?? 1
                try await Task.sleep(for: .seconds(seconds))
            case let status:
                throw ClientError(
                    description: "attachprep answered \(status): \(String(decoding: body, as: UTF8.self))")
            }
        }
    }

    private func manifest(of id: String) async throws -> Manifest {
        while true {
            let job = try JSONDecoder().decode(Job.self, from: await send("GET", "v1/jobs/\(id)").0)
            if let result = job.result { return result }
            guard job.state != "cancelled" else { throw ClientError(description: "the job was cancelled") }
            try await Task.sleep(for: .seconds(1))
        }
    }

    private func send(
        _ method: String, _ path: String, _ body: [String: String]? = nil, _ headers: [String: String] = [:]
    ) async throws -> (Data, HTTPURLResponse) {
        var request = URLRequest(url: url.appendingPathComponent(path))
        request.httpMethod = method
        request.httpBody = try body.map { try JSONEncoder().encode($0) }
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, answer) = try await URLSession.shared.data(for: request)
        guard let answer = answer as? HTTPURLResponse else { throw ClientError(description: "no answer in HTTP") }
        return (data, answer)
    }

    /// Downloads the attachment. Its URL contains 128 random bits and needs no token, so that devices can use it.
    func download(_ file: Manifest.File, into folder: String) async throws -> String {
        let (content, _) = try await URLSession.shared.data(from: file.url)
        let digest = SHA256.hash(data: content).map { String(format: "%02x", $0) }.joined()
        guard digest == file.sha256 else { throw ClientError(description: "the download does not match its SHA-256") }
        let target = URL(fileURLWithPath: folder).appendingPathComponent((file.file as NSString).lastPathComponent)
        try content.write(to: target)
        return target.path
    }
}

/// Whether a webhook is authentic: one of its signatures is correct, and it is at most 5 minutes old.
func isValid(secret: String, id: String, timestamp: String, signatures: String, body: Data) -> Bool {
    guard let key = Data(base64Encoded: String(secret.trimmingPrefix("whsec_"))), let time = TimeInterval(timestamp),
        abs(Date().timeIntervalSince1970 - time) <= 300
    else { return false }
    let content = Data("\(id).\(timestamp).".utf8) + body
    return signatures.split(separator: " ").contains { signature in
        guard let code = Data(base64Encoded: String(signature.trimmingPrefix("v1,"))) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: content, using: SymmetricKey(data: key))
    }
}

func fail(_ sentence: String) -> Never {
    FileHandle.standardError.write(Data("\(sentence)\n".utf8))
    exit(1)
}

let words = Array(CommandLine.arguments.dropFirst())
let environment = ProcessInfo.processInfo.environment
if words.first == "verify", words.count == 5 {
    let body = FileHandle.standardInput.readDataToEndOfFile()
    guard isValid(secret: words[1], id: words[2], timestamp: words[3], signatures: words[4], body: body) else {
        fail("not valid")
    }
    print("valid")
} else if let source = words.first, let url = URL(string: environment["ATTACHPREP_URL"] ?? "http://127.0.0.1:8080") {
    let client = Client(url: url, token: environment["ATTACHPREP_TOKEN"])
    let manifest = try await client.prepare(source)
    guard let attachment = manifest.attachment else {
        fail("\(manifest.outcome): \(manifest.error.map { "\($0.code): \($0.message)" } ?? "no attachment")")
    }
    let path = try await client.download(attachment, into: words.count > 1 ? words[1] : ".")
    print("\(manifest.outcome): \(path), \(attachment.bytes) bytes")
} else {
    fail("source is missing")
}
