import Foundation
import RichPush
import TestSupport
import Testing

@testable import AttachPrep

struct CredentialTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var environment: [String: String] = [:]
        var credentials = ""
        var configuration = ""
        /// The key that is found, or what the refusal says.
        let key: String?
        var says = ""
    }

    static let file = "[default]\naws_access_key_id = F\naws_secret_access_key = s\n"
    static let rows = [
        Row(
            testDescription: "the environment comes first",
            environment: ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "default"],
            credentials: file, key: "E"),
        Row(
            testDescription: "half of a pair is none",
            environment: ["AWS_ACCESS_KEY_ID": "E"], credentials: file, key: nil, says: "AWS_SECRET_ACCESS_KEY"),
        Row(
            testDescription: "an empty variable counts as none", environment: ["AWS_ACCESS_KEY_ID": ""],
            credentials: file, key: "F"),
        Row(testDescription: "the credentials file", credentials: file, key: "F"),
        Row(
            testDescription: "the credentials file goes before the configuration", credentials: file,
            configuration: "[default]\naws_access_key_id = C\naws_secret_access_key = s\n", key: "F"),
        Row(
            testDescription: "the configuration",
            configuration: "[default]\naws_access_key_id = C\naws_secret_access_key = s\n", key: "C"),
        Row(
            testDescription: "another profile", environment: ["AWS_PROFILE": "b"],
            credentials: file + "[b]\naws_access_key_id = B\naws_secret_access_key = s\n", key: "B"),
        Row(
            testDescription: "a profile that is not there", environment: ["AWS_PROFILE": "b"], credentials: file,
            key: nil, says: "no profile \"b\""),
        Row(
            testDescription: "a role goes before keys", credentials: file,
            configuration: "[default]\nrole_arn = arn:x\n", key: nil, says: "an assumed role"),
        Row(
            testDescription: "single sign-on", credentials: file, configuration: "[default]\nsso_session = x\n",
            key: nil, says: "single sign-on"),
        Row(
            testDescription: "a program", configuration: "[default]\ncredential_process = /bin/x\n", key: nil,
            says: "credential_process"),
        Row(
            testDescription: "keys go before a program", credentials: file,
            configuration: "[default]\ncredential_process = /bin/x\n", key: "F"),
        Row(
            testDescription: "a web identity", environment: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x"],
            credentials: file, key: nil, says: "web identity"),
        Row(
            testDescription: "a container's role", environment: ["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://x"],
            key: nil, says: "container's role"),
        Row(testDescription: "nothing at all", key: nil, says: "no S3 credentials"),
        Row(
            testDescription: "a key with a line break",
            environment: ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "a\nb"], key: nil,
            says: "an invalid character"),
    ]

    @Test(arguments: rows) func `Credentials are looked up in the order of the AWS tools`(row: Row) throws {
        let named = AWSProfile.name(in: row.environment)
        let profile = AWSProfile(
            named.name, credentials: AWSProfileFile(row.credentials),
            configuration: AWSProfileFile(row.configuration))
        guard let key = row.key else {
            let error = try #require(
                #expect(throws: AttachPrepError.self) {
                    try AWSCredentialChain.credentials(row.environment, profile, isProfileExplicit: named.isExplicit)
                })
            #expect(error.code == .publishDenied && error.message.contains(row.says), "\(error)")
            return
        }
        let found = try AWSCredentialChain.credentials(row.environment, profile, isProfileExplicit: named.isExplicit)
        #expect(found.accessKeyID == key)
    }

    @Test func `A temporary key brings its token`() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"]
        #expect(try AWSCredentialProvider(environment: environment).credentials().sessionToken == "t")
    }

    @Test func `A file is read again when it has changed`() throws {
        let folder = try TemporaryFolder()
        let environment = [
            "AWS_SHARED_CREDENTIALS_FILE": folder.path("credentials"), "AWS_CONFIG_FILE": folder.path("none"),
        ]
        let book = AWSCredentialProvider(environment: environment)
        #expect(throws: AttachPrepError.self) { try book.credentials() }
        try folder.write(Self.file, to: "credentials")
        #expect(try book.credentials().accessKeyID == "F")
        try folder.write(Self.file.replacing("= F", with: "= FRESH"), to: "credentials")
        #expect(try book.credentials().accessKeyID == "FRESH")
    }

    @Test func `The files of a home are found`() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder(".aws")
        try folder.write(Self.file, to: ".aws/credentials")
        try folder.write("[default]\nregion = eu-north-1\n", to: ".aws/config")
        let book = AWSCredentialProvider(environment: ["HOME": folder.path])
        #expect(try book.credentials().accessKeyID == "F")
        #expect(book.profile["region"] == "eu-north-1")
    }

    @Test func `Secrets are in no description`() throws {
        let credentials = try AWSCredentials(
            accessKeyID: "AK", secretAccessKey: "hush", sessionToken: "mum", from: "here")
        var dumped = ""
        dump(credentials, to: &dumped)
        let texts = ["\(credentials)", String(reflecting: credentials), dumped, "\(Optional(credentials) as Any)"]
        for text in texts { #expect(!text.contains("hush") && !text.contains("mum"), "\(text)") }
    }
}
