import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

/// A credential source on a scripted loopback server, and the client that asks it.
struct FakeCredentialServer {
    let server: LoopbackServer
    let folder: TemporaryFolder
    private let client: HTTPClient

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        client = try HTTPClient(policy: DownloadPolicy(allowsPrivateNetwork: true), trustsServers: true)
    }

    func client(_ environment: [String: String] = [:]) -> CredentialClient {
        CredentialClient(client: client, environment: environment)
    }

    /// An hour from now.
    static var later: String { Timestamp.text(Date(timeIntervalSinceNow: 3_600)) }

    static func document(_ change: [String: String?] = [:]) -> Data {
        var values: [String: String?] = [
            "AccessKeyId": "ASIAX", "SecretAccessKey": "hush", "Token": "mum", "Expiration": later, "Code": "Success",
        ]
        values.merge(change) { $1 }
        return (try? JSONSerialization.data(withJSONObject: values.compactMapValues { $0 })) ?? Data()
    }

    static let nothing = AWSProfile(
        "default", credentials: AWSProfileFile(""), configuration: AWSProfileFile(""))
}

/// The error of work that must fail; its texts must hold no secret.
func credentialError(_ work: () async throws -> IssuedCredentials) async throws -> AttachPrepError {
    let error = try #require(await #expect(throws: AttachPrepError.self) { try await work() })
    for secret in ["hush", "mum", "jot.jot"] { #expect(!"\(error) \(error.detail ?? "")".contains(secret)) }
    return error
}

@Suite(.timeLimit(.minutes(2))) struct WebIdentityRoleTests {
    let fake: FakeCredentialServer

    init() throws {
        fake = try FakeCredentialServer()
        _ = try fake.folder.write("jot.jot+/=\n", to: "token")
    }

    private func role(_ change: [String: String] = [:]) throws -> WebIdentityRole {
        let environment = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": fake.folder.path("token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/a",
            "AWS_ROLE_SESSION_NAME": "pod-1", "AWS_ENDPOINT_URL_STS": fake.server.url("/"),
        ].merging(change) { $1 }
        return try #require(try WebIdentityRole(environment, FakeCredentialServer.nothing))
    }

    static func answer(expiration: String? = FakeCredentialServer.later) -> LoopbackResponse {
        let end = expiration.map { "<Expiration>\($0)</Expiration>" } ?? ""
        let token = String(repeating: "t", count: 4_000)
        return .xml(
            200,
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><SessionToken>\(token)"
                + "</SessionToken><SecretAccessKey>hush/+=</SecretAccessKey>\(end)<AccessKeyId>ASIAW</AccessKeyId>"
                + "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
    }

    @Test func `The token is exchanged for credentials`() async throws {
        fake.server.serve("/", Self.answer())
        let issued = try await role().credentials(fake.client())
        #expect(issued.credentials.accessKeyID == "ASIAW" && issued.credentials.secretAccessKey == "hush/+=")
        #expect(issued.credentials.sessionToken?.count == 4_000)
        #expect(try #require(issued.expiration).timeIntervalSinceNow > 3_500)
        let request = try #require(fake.server.requests.first)
        #expect(request.method == "POST" && request.headers["authorization"] == nil)
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa"
                + "&RoleSessionName=pod-1&WebIdentityToken=jot.jot%2B%2F%3D")
    }

    @Test func `The token file is read again for each request`() async throws {
        fake.server.serve("/", Self.answer())
        _ = try await role().credentials(fake.client())
        _ = try fake.folder.write("other", to: "token")
        _ = try await role().credentials(fake.client())
        let bodies = fake.server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.last?.hasSuffix("WebIdentityToken=other") == true)
    }

    @Test(arguments: [
        ([:], "https://sts.us-east-1.amazonaws.com/"),
        (["AWS_REGION": "eu-west-1"], "https://sts.eu-west-1.amazonaws.com/"),
        (["AWS_REGION": "cn-north-1"], "https://sts.cn-north-1.amazonaws.com.cn/"),
        (["AWS_ENDPOINT_URL": "http://minio:9000"], "http://minio:9000/"),
        (["AWS_ENDPOINT_URL": "http://minio", "AWS_ENDPOINT_URL_STS": "http://sts"], "http://sts/"),
        (
            ["AWS_ENDPOINT_URL": "http://x", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"],
            "https://sts.us-east-1.amazonaws.com/"
        ),
    ])
    func `The token service is that of the region or the configured one`(environment: [String: String], url: String)
        throws
    {
        let base = ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn:x"]
        let role = try WebIdentityRole(base.merging(environment) { $1 }, FakeCredentialServer.nothing)
        #expect(role?.endpoint == url)
    }

    @Test func `A rejected token is explained, without what the service repeats`() async throws {
        let rejection = LoopbackResponse.xml(
            400, "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>jot.jot</Message></Error>")
        fake.server.serve("/", rejection)
        let error = try await credentialError { try await role().credentials(fake.client()) }
        #expect(error.code == .publishDenied && error.message.contains("InvalidIdentityToken"))
        #expect(fake.server.requests.count == 1)
    }

    @Test func `A failing service is asked three times`() async throws {
        fake.server.serve("/", .status(503))
        let error = try await credentialError { try await role().credentials(fake.client()) }
        #expect(error.code == .publishUnavailable && error.isRetryable)
        #expect(fake.server.requests.count == 3)
    }

    @Test func `A service that recovers is asked again`() async throws {
        fake.server.serve("/", inTurn: [.status(500), LoopbackResponse([.reset]), Self.answer()])
        #expect(try await role().credentials(fake.client()).credentials.accessKeyID == "ASIAW")
    }

    @Test(arguments: ["", "\n \n"]) func `An empty token file is an error`(text: String) async throws {
        _ = try fake.folder.write(text, to: "token")
        let error = try await credentialError { try await role().credentials(fake.client()) }
        #expect(error.code == .publishDenied && error.message.contains("is empty"))
    }

    @Test func `A missing token file is an error`() async throws {
        let error = try await credentialError {
            try await role(["AWS_WEB_IDENTITY_TOKEN_FILE": "/nonexistent"]).credentials(fake.client())
        }
        #expect(error.message.contains("/nonexistent cannot be read"))
    }

    @Test func `An endless response is cut off`() async throws {
        let start = LoopbackResponse.head(200, ["Content-Type": "text/xml"])
        fake.server.serve("/", start.then(.sendForever(Data(repeating: 0x20, count: 65_536))))
        let error = try await credentialError { try await role().credentials(fake.client()) }
        #expect(error.code == .publishDenied && error.message.contains("exceeds 65,536 bytes"), "\(error)")
    }

    @Test func `Credentials without an expiration are accepted`() async throws {
        fake.server.serve("/", Self.answer(expiration: nil))
        #expect(try await role().credentials(fake.client()).expiration == nil)
    }

    @Test(arguments: [("soon", "is not a time"), ("2020-01-01T00:00:00Z", "expired at 2020")])
    func `An expiration that is invalid or over is an error`(text: String, message: String) async throws {
        fake.server.serve("/", Self.answer(expiration: text))
        let error = try await credentialError { try await role().credentials(fake.client()) }
        #expect(error.message.contains(message), "\(error)")
    }
}

@Suite(.timeLimit(.minutes(2))) struct ContainerRoleTests {
    let fake: FakeCredentialServer

    init() throws {
        fake = try FakeCredentialServer()
    }

    private func credentials(_ environment: [String: String] = [:]) async throws -> IssuedCredentials {
        let environment = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": fake.server.url("/creds?id=1")]
            .merging(environment) { $1 }
        return try await #require(try ContainerRole(environment)).credentials(fake.client(environment))
    }

    @Test(arguments: [
        ("http://127.0.0.1/x", true), ("http://127.9.9.9:99/x", true), ("http://[::1]:80/x", true),
        ("http://localhost:8080/x", true), ("http://169.254.170.2/x", true), ("http://169.254.170.23/v1", true),
        ("http://[fd00:ec2::23]/v1", true), ("https://example.com/x", true), ("https://10.0.0.1/x", true),
        ("http://169.254.169.254/x", false), ("http://10.0.0.1/x", false), ("http://example.com/x", false),
        ("http://127.0.0.1.example.com/x", false), ("http://localhost.example.com/x", false),
        ("http://127.0.0.1@example.com/x", false), ("http://[fd00:ec2::254]/x", false), ("ftp://127.0.0.1/x", false),
        ("http://", false),
    ])
    func `A token is sent over http only to trusted hosts`(url: String, isAllowed: Bool) throws {
        let environment = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": url]
        if isAllowed {
            #expect(try ContainerRole(environment)?.url == url)
        } else {
            #expect(throws: AttachPrepError.self) { try ContainerRole(environment) }
        }
    }

    @Test func `A relative URI is on the address of ECS and takes precedence`() throws {
        let role = try ContainerRole([
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/v2/credentials/1",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1/",
        ])
        #expect(role?.url == "http://169.254.170.2/v2/credentials/1")
        #expect(throws: AttachPrepError.self) {
            try ContainerRole(["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "@example.com/"])
        }
    }

    @Test func `Credentials are requested with the token of the file`() async throws {
        fake.server.serve("/creds", .body(FakeCredentialServer.document(), type: "application/json"))
        let file = try fake.folder.write("jot.jot\n", to: "token")
        let issued = try await credentials([
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": file, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "Basic other",
        ])
        #expect(issued.credentials.accessKeyID == "ASIAX" && issued.credentials.sessionToken == "mum")
        _ = try await credentials(["AWS_CONTAINER_AUTHORIZATION_TOKEN": "Basic abc"])
        _ = try await credentials()
        #expect(fake.server.requests.map { $0.headers["authorization"] } == ["jot.jot", "Basic abc", nil])
        #expect(fake.server.requests.first?.target == "/creds?id=1")
    }

    @Test(arguments: ["a\r\nX-Injected: 1", "ü", "a\nb"])
    func `A token with an invalid character is not sent`(token: String) async throws {
        let error = try await credentialError { try await credentials(["AWS_CONTAINER_AUTHORIZATION_TOKEN": token]) }
        #expect(error.message.contains("invalid character") && fake.server.requests.isEmpty)
    }

    @Test(arguments: [
        (FakeCredentialServer.document(["AccessKeyId": nil]), "has no AccessKeyId"),
        (FakeCredentialServer.document(["SecretAccessKey": "hush\r\nX: 1"]), "invalid character"),
        (FakeCredentialServer.document(["Token": String(repeating: "mum", count: 5_000)]), "exceed 8,192 bytes"),
        (FakeCredentialServer.document(["Expiration": "2020-01-01T00:00:00Z"]), "expired at 2020"),
        (Data("{\"AccessKeyId\": 1}".utf8), "is not a JSON document"),
        (Data("hush".utf8), "is not a JSON document"),
        (Data(repeating: UInt8(ascii: "["), count: 60_000), "is not a JSON document"),
        (Data(repeating: 0x20, count: 70_000), "exceeds 65,536 bytes"),
    ])
    func `An invalid document is an error without its contents`(document: Data, message: String) async throws {
        fake.server.serve("/creds", .body(document))
        let error = try await credentialError { try await credentials() }
        #expect(error.message.contains(message), "\(error)")
    }

    @Test func `An error of the service shows its code and not its message`() async throws {
        fake.server.serve("/creds", .status(401, [:], Data("{\"Code\": \"Denied\", \"Message\": \"hush\"}".utf8)))
        let error = try await credentialError { try await credentials() }
        #expect(error.code == .publishDenied && error.message.contains("it answered 401 (Denied)"))
    }

    @Test func `Redirects are not followed`() async throws {
        fake.server.serve("/creds", .redirect(fake.server.url("/other")))
        let error = try await credentialError { try await credentials() }
        #expect(error.message.contains("it answered 302") && fake.server.requests.count == 1)
    }
}

@Suite(.timeLimit(.minutes(2))) struct InstanceRoleTests {
    let fake: FakeCredentialServer
    static let path = "/latest/meta-data/iam/security-credentials/"

    init() throws {
        fake = try FakeCredentialServer()
    }

    private func credentials(_ environment: [String: String] = [:]) async throws -> IssuedCredentials {
        let environment = [
            "AWS_EC2_METADATA_SERVICE_ENDPOINT": fake.server.url("/"), "AWS_METADATA_SERVICE_TIMEOUT": "20",
        ].merging(environment) { $1 }
        return try await #require(try InstanceRole(environment, FakeCredentialServer.nothing))
            .credentials(fake.client(environment))
    }

    private func serve(role: String = "media-role", document: Data = FakeCredentialServer.document()) {
        fake.server.serve("/latest/api/token", .body(Data("session-token".utf8)))
        fake.server.serve(Self.path, .body(Data(role.utf8)))
        fake.server.serve(Self.path + "media-role", .body(document))
    }

    @Test func `Credentials are read with a session token`() async throws {
        serve()
        #expect(try await credentials().credentials.accessKeyID == "ASIAX")
        let requests = fake.server.requests
        #expect(requests.map(\.method) == ["PUT", "GET", "GET"])
        #expect(requests[0].headers["x-aws-ec2-metadata-token-ttl-seconds"] == "300")
        #expect(requests[0].headers["expect"] == nil && requests[0].body.isEmpty)
        #expect(requests.dropFirst().allSatisfy { $0.headers["x-aws-ec2-metadata-token"] == "session-token" })
    }

    @Test func `Without a session token, nothing else is requested`() async throws {
        serve()
        fake.server.serve("/latest/api/token", .status(403))
        let error = try await credentialError { try await credentials() }
        #expect(error.message.contains("instance answered 403") && fake.server.requests.count == 1)
    }

    @Test(arguments: ["../../user-data", "a b", "", "..", "a\u{e9}"])
    func `An invalid role name is not requested`(role: String) async throws {
        serve(role: role)
        let error = try await credentialError { try await credentials() }
        #expect(error.message.contains("has no role") && fake.server.requests.count == 2)
    }

    @Test func `An instance without a role is reported as such`() async throws {
        serve()
        fake.server.serve(Self.path, .status(404))
        let error = try await credentialError { try await credentials() }
        #expect(error.code == .publishDenied && error.message.contains("attach an instance profile"))
    }

    @Test func `An error code in the document is reported`() async throws {
        serve(document: FakeCredentialServer.document(["Code": "AssumeRoleUnauthorizedAccess"]))
        let error = try await credentialError { try await credentials() }
        #expect(error.message.contains("AssumeRoleUnauthorizedAccess"))
    }

    @Test func `A machine without a metadata service has no credentials`() async throws {
        let free = try LoopbackServer()
        let url = free.url("/")
        free.stop()
        let error = try await credentialError {
            try await credentials(["AWS_EC2_METADATA_SERVICE_ENDPOINT": url])
        }
        #expect(error.code == .publishDenied && error.message.contains("There are no S3 credentials"))
    }

    @Test func `A metadata service that hangs is given up in time`() async throws {
        fake.server.serve("/latest/api/token", LoopbackResponse([.hang]))
        let error = try await credentialError { try await credentials(["AWS_METADATA_SERVICE_TIMEOUT": "0.2"]) }
        #expect(error.message.contains("did not answer"))
    }

    @Test func `The address follows mode and configuration`() throws {
        func endpoint(_ environment: [String: String], _ configuration: String = "") throws -> String? {
            let profile = AWSProfile(
                "default", credentials: AWSProfileFile(""), configuration: AWSProfileFile(configuration))
            return try InstanceRole(environment, profile)?.endpoint
        }
        #expect(try endpoint([:]) == "http://169.254.169.254")
        #expect(try endpoint(["AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"]) == "http://[fd00:ec2::254]")
        #expect(try endpoint([:], "[default]\nec2_metadata_service_endpoint = http://x/\n") == "http://x")
        #expect(try endpoint(["AWS_EC2_METADATA_DISABLED": "TRUE"]) == nil)
    }

    @Test func `The metadata address stays blocked for media`() async throws {
        let downloads = try HTTPClient()
        for url in ["http://169.254.169.254/latest/", "http://169.254.170.2/", "http://[fd00:ec2::254]/"] {
            let error = await #expect(throws: AttachPrepError.self) {
                try await downloads.send(
                    HTTPClientRequest(.get, url, responseBytesMax: 10, deadline: .now + .seconds(5)))
            }
            #expect(error?.code == .sourceAddressBlocked)
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct CredentialProcessTests {
    private func credentials(_ command: String, secondsMax: Double = 30) async throws -> IssuedCredentials {
        try await CredentialProcess(command: command, profile: "media").credentials(
            FakeCredentialServer().client(["PATH": "/usr/bin:/bin", "SECRET": "hush"]), secondsMax: secondsMax)
    }

    private static func printing(_ document: String) -> String { "printf '%s' '\(document)'" }
    private static let keys = "\"AccessKeyId\": \"AKIAP\", \"SecretAccessKey\": \"s\""

    @Test func `The program's output is used`() async throws {
        let end = FakeCredentialServer.later
        let issued = try await credentials(
            Self.printing("{\"Version\": 1, \(Self.keys), \"SessionToken\": \"t\", \"Expiration\": \"\(end)\"}"))
        #expect(issued.credentials.accessKeyID == "AKIAP" && issued.credentials.sessionToken == "t")
        #expect(issued.expiration != nil)
    }

    @Test func `Permanent keys have no expiration`() async throws {
        let issued = try await credentials(Self.printing("{\"Version\": 1, \(Self.keys)}"))
        #expect(issued.expiration == nil && issued.credentials.sessionToken == nil)
    }

    @Test func `The program has the environment, and no input`() async throws {
        let command = "read x; test \"$SECRET\" = hush && \(Self.printing("{\"Version\": 1, \(Self.keys)}"))"
        #expect(try await credentials(command).credentials.accessKeyID == "AKIAP")
    }

    @Test(arguments: [
        ("echo hush >&2; exit 3", "status 3"), ("kill -9 $$", "signal 9"), ("/nonexistent", "status 127"),
        ("true", "not a JSON document"), ("echo '{\"Version\": 2}'", "not of Version 1"),
        ("head -c 100000 /dev/zero", "exceeds 65,536 bytes"), ("yes hush", "exceeds 65,536 bytes"),
    ])
    func `A failing program is explained without its output`(command: String, message: String) async throws {
        let error = try await credentialError { try await credentials(command) }
        #expect(error.code == .publishDenied && error.message.contains(message), "\(error)")
    }

    @Test func `A program that hangs is ended`() async throws {
        let error = try await credentialError { try await credentials("cat /dev/full | cat", secondsMax: 0.3) }
        #expect([.publishUnavailable, .publishDenied].contains(error.code), "\(error)")
        let hanging = try await credentialError { try await credentials("tail -f /dev/null", secondsMax: 0.3) }
        #expect(hanging.code == .publishUnavailable && hanging.message.contains("did not end"))
    }

    @Test func `A cancelled refresh ends the program`() async throws {
        let task = Task { try await credentials("tail -f /dev/null") }
        task.cancel()
        let error = await #expect(throws: AttachPrepError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
