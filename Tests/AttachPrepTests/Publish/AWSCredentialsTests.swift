import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct AWSCredentialsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var environment: [String: String] = [:]
        var credentials = ""
        var configuration = ""
        /// The key that is found; nil for another source, or an error with `message`.
        var key: String?
        /// Another source that is found.
        var source: String?
        var message = ""
    }

    static let file = "[default]\naws_access_key_id = F\naws_secret_access_key = s\n"
    static let rows = [
        Row(
            testDescription: "the environment comes first",
            environment: ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "default"],
            credentials: file, key: "E"),
        Row(
            testDescription: "half of a key pair is rejected",
            environment: ["AWS_ACCESS_KEY_ID": "E"], credentials: file, message: "AWS_SECRET_ACCESS_KEY"),
        Row(
            testDescription: "an empty variable is ignored", environment: ["AWS_ACCESS_KEY_ID": ""],
            credentials: file, key: "F"),
        Row(testDescription: "the credentials file", credentials: file, key: "F"),
        Row(
            testDescription: "the credentials file takes precedence over the configuration", credentials: file,
            configuration: "[default]\naws_access_key_id = C\naws_secret_access_key = s\n", key: "F"),
        Row(
            testDescription: "the configuration",
            configuration: "[default]\naws_access_key_id = C\naws_secret_access_key = s\n", key: "C"),
        Row(
            testDescription: "another profile", environment: ["AWS_PROFILE": "b"],
            credentials: file + "[b]\naws_access_key_id = B\naws_secret_access_key = s\n", key: "B"),
        Row(
            testDescription: "a missing profile", environment: ["AWS_PROFILE": "b"], credentials: file,
            message: "no profile \"b\""),
        Row(
            testDescription: "a role takes precedence over keys", credentials: file,
            configuration: "[default]\nrole_arn = arn:x\n", message: "an assumed role"),
        Row(
            testDescription: "single sign-on", credentials: file, configuration: "[default]\nsso_session = x\n",
            message: "single sign-on"),
        Row(
            testDescription: "a program", configuration: "[default]\ncredential_process = /bin/x\n",
            source: "credential_process"),
        Row(
            testDescription: "a program takes precedence over keys of the configuration",
            configuration: "[default]\ncredential_process = /bin/x\naws_access_key_id = C\naws_secret_access_key = s\n",
            source: "credential_process"),
        Row(
            testDescription: "keys take precedence over a program", credentials: file,
            configuration: "[default]\ncredential_process = /bin/x\n", key: "F"),
        Row(
            testDescription: "a web identity takes precedence over files",
            environment: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn:x"], credentials: file,
            source: "web identity"),
        Row(
            testDescription: "keys of the environment take precedence over a web identity",
            environment: [
                "AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn:x", "AWS_ACCESS_KEY_ID": "E",
                "AWS_SECRET_ACCESS_KEY": "s",
            ], key: "E"),
        Row(
            testDescription: "a web identity of the profile",
            configuration: "[default]\nrole_arn = arn:x\nweb_identity_token_file = /x\n", source: "web identity"),
        Row(
            testDescription: "a web identity without a role",
            environment: ["AWS_WEB_IDENTITY_TOKEN_FILE": "/x"], credentials: file, message: "set AWS_ROLE_ARN"),
        Row(
            testDescription: "an invalid session name",
            environment: [
                "AWS_WEB_IDENTITY_TOKEN_FILE": "/x", "AWS_ROLE_ARN": "arn:x", "AWS_ROLE_SESSION_NAME": "a b",
            ], message: "AWS_ROLE_SESSION_NAME must have"),
        Row(
            testDescription: "keys of a file take precedence over a container's role",
            environment: ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"], credentials: file, key: "F"),
        Row(
            testDescription: "a container's role",
            environment: ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/x"], source: "container role"),
        Row(testDescription: "the machine's role comes last", source: "instance role"),
        Row(
            testDescription: "an invalid URL of the metadata service",
            environment: ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "ftp://x"],
            message: "AWS_EC2_METADATA_SERVICE_ENDPOINT"),
        Row(
            testDescription: "nothing at all", environment: ["AWS_EC2_METADATA_DISABLED": "true"],
            message: "no S3 credentials"),
        Row(
            testDescription: "a key with a line break",
            environment: ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "a\nb"],
            message: "an invalid character"),
    ]

    @Test(arguments: rows) func `Credentials are looked up in the order of the AWS tools`(row: Row) throws {
        let named = AWSProfile.name(in: row.environment)
        let profile = AWSProfile(
            named.name, credentials: AWSProfileFile(row.credentials),
            configuration: AWSProfileFile(row.configuration))
        let find = {
            try AWSCredentialChain.source(row.environment, profile: profile, isProfileExplicit: named.isExplicit)
        }
        if !row.message.isEmpty {
            let error = try #require(#expect(throws: AttachPrepError.self) { try find() })
            #expect(error.code == .publishDenied && error.message.contains(row.message), "\(error)")
            return
        }
        let source = try find()
        #expect(source.name == row.source ?? "keys")
        if case .keys(let keys) = source { #expect(keys.accessKeyID == row.key) }
    }

    private func keys(_ profiles: AWSProfileReader) throws -> AWSCredentials {
        guard case .keys(let keys) = try profiles.source() else { throw TestError(description: "no keys") }
        return keys
    }

    @Test func `Temporary credentials include their session token`() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t"]
        #expect(try keys(AWSProfileReader(environment: environment)).sessionToken == "t")
    }

    @Test func `A changed credentials file is read again`() throws {
        let folder = try TemporaryFolder()
        let environment = [
            "AWS_SHARED_CREDENTIALS_FILE": folder.path("credentials"), "AWS_CONFIG_FILE": folder.path("none"),
            "AWS_EC2_METADATA_DISABLED": "true",
        ]
        let profiles = AWSProfileReader(environment: environment)
        #expect(throws: AttachPrepError.self) { try profiles.source() }
        try folder.write(Self.file, to: "credentials")
        #expect(try keys(profiles).accessKeyID == "F")
        try folder.write(Self.file.replacing("= F", with: "= FRESH"), to: "credentials")
        #expect(try keys(profiles).accessKeyID == "FRESH")
    }

    @Test func `The files in the home folder are found`() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder(".aws")
        try folder.write(Self.file, to: ".aws/credentials")
        try folder.write("[default]\nregion = eu-north-1\n", to: ".aws/config")
        let profiles = AWSProfileReader(environment: ["HOME": folder.path])
        #expect(try keys(profiles).accessKeyID == "F")
        #expect(profiles.profile["region"] == "eu-north-1")
    }

    @Test func `Secrets appear in no description`() throws {
        let credentials = try AWSCredentials(
            accessKeyID: "AK", secretAccessKey: "hush", sessionToken: "mum", from: "here")
        var dumped = ""
        dump(credentials, to: &dumped)
        let texts = ["\(credentials)", String(reflecting: credentials), dumped, "\(Optional(credentials) as Any)"]
        for text in texts { #expect(!text.contains("hush") && !text.contains("mum"), "\(text)") }
    }
}

struct AWSProfileFileTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let sections: [String: [String: String]]
    }

    static let rows = [
        Row(testDescription: "nothing", text: "", sections: [:]),
        Row(
            testDescription: "sections and keys",
            text: "[default]\naws_access_key_id = AK\nregion=eu-west-1\n[b]\nx = 1",
            sections: ["default": ["aws_access_key_id": "AK", "region": "eu-west-1"], "b": ["x": "1"]]),
        Row(
            testDescription: "Windows line ends and a byte order mark", text: "\u{FEFF}[default]\r\nx = 1\r\n",
            sections: ["default": ["x": "1"]]),
        Row(
            testDescription: "spaces and quotes in names", text: "[ profile   \"a\" ]\nX = 1\n",
            sections: ["profile a": ["x": "1"]]),
        Row(
            testDescription: "comments", text: "# a\n; b\n[a] # c\nx = 1 # d\ny = a#b;c\nz = ; nothing\n",
            sections: ["a": ["x": "1", "y": "a#b;c", "z": ""]]),
        Row(
            testDescription: "keys below a key", text: "[a]\ns3 =\n  addressing_style = path\n  x = 2\nregion = r\n",
            sections: ["a": ["s3": "", "s3.addressing_style": "path", "s3.x": "2", "region": "r"]]),
        Row(
            testDescription: "a continued value", text: "[a]\nx = 1\n  y = 2\nz = 3\n",
            sections: ["a": ["x": "1", "z": "3"]]),
        Row(
            testDescription: "equals signs and colons in values", text: "[a]\nsecret = a=b:c==\nkey = test:tester\n",
            sections: ["a": ["secret": "a=b:c==", "key": "test:tester"]]),
        Row(
            testDescription: "a section twice", text: "[a]\nx = 1\ny = 1\n[a]\nx = 2\n",
            sections: ["a": ["x": "2", "y": "1"]]),
        Row(
            testDescription: "invalid lines", text: "x = 1\n[a\ny = 2\n[b]\nword\n= 3\n",
            sections: ["b": [:]]),
    ]

    @Test(arguments: rows) func `A profile file is parsed as the AWS tools parse it`(row: Row) {
        #expect(AWSProfileFile(row.text).sections == row.sections)
    }

    @Test func `Profiles in the configuration file have a prefix, except the default one`() {
        let configuration = AWSProfileFile(
            """
            [default]
            region = one
            [profile b]
            region = two
            services = mine
            [b]
            region = three
            [services mine]
            s3 =
              endpoint_url = http://minio:9000
            """)
        let credentials = AWSProfileFile("[default]\naws_access_key_id = A\n[b]\naws_access_key_id = B\n")
        let standard = AWSProfile("default", credentials: credentials, configuration: configuration)
        let other = AWSProfile("b", credentials: credentials, configuration: configuration)
        #expect(
            standard["region"] == "one" && standard["aws_access_key_id"] == "A" && standard.endpoint(of: "s3") == nil)
        #expect(other["region"] == "two" && other["aws_access_key_id"] == "B")
        #expect(other.endpoint(of: "s3") == "http://minio:9000")
    }
}
