import AttachPrep
import AttachPrepJobs
import Foundation
import MediaTypes
import TestSupport
import Testing

@testable import AttachPrepModel
@testable import AttachPrepService

/// The flags and variables of `attachprep serve`, and the errors for invalid ones.
struct ServeConfigurationTests {
    private func read(_ flags: [Setting: String] = [:], _ environment: [String: String] = [:]) throws
        -> ServeConfiguration
    {
        try ServeConfiguration(flags: flags, environment: ["HOME": "/home/push"].merging(environment) { $1 })
    }

    @Test func `By default, it listens on loopback with its state in the home folder`() throws {
        let configuration = try read()
        #expect(configuration.service.host == "127.0.0.1" && configuration.service.port == 8080)
        #expect(configuration.dataFolder == "/home/push/.local/state/attachprep")
        #expect(configuration.preparer.output == "/home/push/.local/state/attachprep/work")
        #expect(configuration.preparer.dataFolder == configuration.dataFolder)
        #expect(!configuration.preparer.allowsLocalFiles && configuration.durability == .normal)
        #expect(configuration.unknownVariables.isEmpty)
    }

    @Test func `Publishing to a bucket uses the settings of the AWS tools`() throws {
        let configuration = try read(
            [.s3Region: "eu-west-1"],
            [
                "ATTACHPREP_PUBLISH": "s3://media/push", "ATTACHPREP_S3_ENDPOINT": "http://10.0.0.1:9000",
                "ATTACHPREP_S3_PATH_STYLE": "true", "ATTACHPREP_S3_CACHE_CONTROL": "no-store",
                "ATTACHPREP_PUBLISH_BASE_URL": "https://cdn.example/push", "AWS_PROFILE": "push",
            ])
        guard case .bucket(let settings) = configuration.preparer.publish else {
            return #expect(Bool(false), "\(configuration.preparer.publish)")
        }
        #expect(settings.location.bucket == "media" && settings.location.prefix == "push")
        #expect(settings.endpoint == "http://10.0.0.1:9000" && settings.region == "eu-west-1")
        #expect(settings.usesPathStyle == true && settings.cacheControl == "no-store")
        #expect(settings.environment["AWS_PROFILE"] == "push")
        #expect(configuration.preparer.baseURL == "https://cdn.example/push" && !configuration.service.servesFiles)
        #expect(configuration.unknownVariables.isEmpty)
        #expect(try read().service.servesFiles && read().preparer.publish.isRemote == false)
    }

    @Test(arguments: [("ATTACHPREP_PUBLISH", "s4://x"), ("ATTACHPREP_S3_ENDPOINT", "ftp://x")])
    func `An invalid bucket setting is reported by its variable`(name: String, value: String) {
        let error = #expect(throws: AttachPrepError.self) {
            try read([:], ["ATTACHPREP_PUBLISH": "s3://media"].merging([name: value]) { $1 })
        }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test func `Every setting is read from the environment`() throws {
        let configuration = try read(
            [:],
            [
                "ATTACHPREP_HOST": "0.0.0.0", "ATTACHPREP_PORT": "9000", "ATTACHPREP_BASE_URL": "https://m.example/p",
                "ATTACHPREP_DATA": "/data", "ATTACHPREP_TOKENS": "a, b", "ATTACHPREP_TOKEN_FILE": "/t",
                "ATTACHPREP_WEBHOOK_SECRETS": "whsec_a", "ATTACHPREP_WEBHOOK_SECRET_FILE": "/w",
                "ATTACHPREP_ALLOW_CALLBACK_NETWORK": "10.0.0.0/8,fd00::/8", "ATTACHPREP_FSYNC": "always",
                "ATTACHPREP_DRAIN": "5s", "ATTACHPREP_RETENTION": "2d", "ATTACHPREP_DEAD_RETENTION": "12h",
                "ATTACHPREP_MEDIA_QUOTA": "2GB", "ATTACHPREP_MAX_QUEUE": "7", "ATTACHPREP_CONNECTIONS": "8",
                "ATTACHPREP_CONNECTIONS_PER_ADDRESS": "2", "ATTACHPREP_METRICS_NETWORK": "127.0.0.0/8",
                "ATTACHPREP_REQUESTS_PER_SECOND": "0", "ATTACHPREP_LOG_FORMAT": "json",
                "ATTACHPREP_LOG_LEVEL": "debug", "ATTACHPREP_CONCURRENCY": "4", "ATTACHPREP_PER_HOST": "5",
                "ATTACHPREP_MEDIA_SLOTS": "3",
                "ATTACHPREP_REQUIRE_SANDBOX": "true", "ATTACHPREP_HTTPS_ONLY": "1",
                "ATTACHPREP_ALLOW_PRIVATE_NETWORK": "yes", "ATTACHPREP_CA_FILE": "/etc/passwd",
                "ATTACHPREP_PROXY": "http://p",
                "ATTACHPREP_RESOLVE": "a:1:127.0.0.1",
            ])
        let (service, preparer) = (configuration.service, configuration.preparer)
        #expect(service.host == "0.0.0.0" && service.port == 9000 && service.baseURL == "https://m.example/p")
        #expect(configuration.dataFolder == "/data" && configuration.tokens == ["a", "b"])
        #expect(configuration.tokenFile == "/t" && configuration.webhookSecrets == ["whsec_a"])
        #expect(configuration.webhookSecretFile == "/w")
        #expect(configuration.callbackNetworks.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
        #expect(configuration.durability == .always)
        let limits = configuration.limits
        #expect(configuration.drainSeconds == 5 && limits.retentionSeconds == 172_800)
        #expect(limits.deadRetentionSeconds == 43_200 && limits.mediaQuotaBytes == 2_000_000_000)
        #expect(limits.queuedJobsMax == 7 && service.connectionsMax == 8 && service.requestsPerSecondMax == 0)
        #expect(service.connectionsPerAddressMax == 2 && service.metricsNetworks.map(\.description) == ["127.0.0.0/8"])
        #expect(configuration.logFormat == .json && configuration.logLevel == .debug)
        #expect(configuration.jobsPerHostMax == 5)
        #expect(preparer.requestsInFlight == 4 && preparer.mediaSlots == 3 && preparer.requiresSandbox)
        #expect(preparer.download.httpsOnly && preparer.download.allowsPrivateNetwork)
        #expect(preparer.download.certificateAuthorityFile == "/etc/passwd" && preparer.download.proxy == "http://p")
        #expect(preparer.download.resolveOverrides == ["a:1:127.0.0.1"])
    }

    private let bucket = ["ATTACHPREP_PUBLISH": "s3://media/push"]

    /// A file of keys, and what a queue in PostgreSQL needs besides its URL.
    private func shared() throws -> (folder: TemporaryFolder, environment: [String: String]) {
        let folder = try TemporaryFolder()
        let file = try folder.write("k1:\(Data(count: 32).base64EncodedString())\n", to: "queue.key")
        return (folder, bucket.merging(["ATTACHPREP_QUEUE_KEY_FILE": file]) { $1 })
    }

    @Test func `With a queue in PostgreSQL, there is no data folder`() throws {
        let (folder, environment) = try shared()
        let configuration = try read(
            [.queueSchema: "push_2"],
            environment.merging([
                "ATTACHPREP_QUEUE": "postgres://me@a,b:5433/push", "ATTACHPREP_ACCEPT_ONLY": "true",
            ]) { $1 })
        let queue = try #require(configuration.queue)
        #expect("\(queue)" == "me@a,b:5433/push" && configuration.values[.queueSchema]?.text == "push_2")
        #expect(configuration.dataFolder.isEmpty && !configuration.works && configuration.unknownVariables.isEmpty)
        #expect(try read([.queue: "file:"]).queue == nil && read().works)
        _ = folder
    }

    @Test func `An environment has a name of 32 printable characters, and gray without a color`() throws {
        #expect(try read().service.environment == nil)
        let gray = try read([.environmentName: "Staging"]).service.environment
        #expect(gray == ServiceEnvironment(name: "Staging", color: .gray))
        let red = try read([.environmentName: "Produktion München", .environmentColor: "red"]).service.environment
        #expect(red?.color == .red)
        for flags: [Setting: String] in [
            [.environmentName: String(repeating: "a", count: 33)], [.environmentName: "a\u{202E}b"],
            [.environmentName: "a", .environmentColor: "#ff0000"],
        ] {
            let error = #expect(throws: AttachPrepError.self) { _ = try read(flags) }
            #expect(error?.code == .requestInvalid && error?.message.contains("--environment-") == true)
        }
    }

    @Test func `A worker uses another default port than a service`() throws {
        let (folder, environment) = try shared()
        let worker = try ServeConfiguration(
            flags: [.queue: "postgres://a/push"], environment: environment, role: .work)
        #expect(worker.service.port == 8081 && worker.works && worker.role == .work)
        _ = folder
    }

    @Test(arguments: [
        (Setting.queueSchema, "push-2"), (.queueSchema, String(repeating: "x", count: 64)),
        (.queueKeyFile, "/etc/passwd"), (.queueKeyFile, "/nowhere"), (.queue, "postgres://me:secret@a/push"),
        (.queue, "postgres://a/push?nonsense=1"), (.queue, "nats://a"),
    ])
    func `An invalid queue setting is reported by its flag`(setting: Setting, text: String) throws {
        let (folder, environment) = try shared()
        let flags = [Setting.queue: "postgres://a/push"].merging([setting: text]) { $1 }
        let error = #expect(throws: AttachPrepError.self) { try read(flags, environment) }
        #expect(error?.message.contains(setting.flag) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret@") == false)
        _ = folder
    }

    @Test func `A file of keys that is too large is rejected, not read in part`() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(String(repeating: " ", count: 262_140) + "secret", to: "keys")
        let error = #expect(throws: AttachPrepError.self) {
            try read([.queue: "postgres://a/push", .queueKeyFile: file], bucket)
        }
        #expect(error?.message.contains("The file exceeds 262144 bytes.") == true, "\(error?.message ?? "")")
    }

    @Test func `A flag takes precedence over its variable`() throws {
        #expect(try read([.port: "1"], ["ATTACHPREP_PORT": "2"]).service.port == 1)
    }

    @Test(arguments: [
        (Setting.port, "80 80"), (.port, "65536"), (.port, "-1"), (.baseURL, "ftp://a"), (.baseURL, "https://a?b"),
        (.fsync, "sometimes"), (.drain, "soon"), (.drain, "2h"), (.retention, "5s"), (.mediaQuota, "1GiB"),
        (.mediaQuota, "1MB"), (.maxQueue, "0"), (.logLevel, "loud"), (.logFormat, "xml"), (.concurrency, "0"),
        (.perHost, "0"),
        (.mediaSlots, "two"), (.requireSandbox, "perhaps"), (.caFile, "/nowhere/ca.pem"),
        (.proxy, "ftp://proxy"),
        (.requestsPerSecond, "-1"), (.connections, "0"), (.metricsNetwork, "10.0.0.1/8"),
        (.allowCallbackNetwork, "ten"),
    ])
    func `An invalid setting is reported by its flag or variable`(setting: Setting, text: String) throws {
        let typed = try #require(throws: AttachPrepError.self) { try read([setting: text]) }
        #expect(typed.message.contains(setting.flag) && typed.message.contains(text))
        let inherited = try #require(throws: AttachPrepError.self) { try read([:], [setting.variable: text]) }
        #expect(inherited.message.contains(setting.variable) && inherited.code == .requestInvalid)
    }

    @Test func `An unknown variable is reported`() throws {
        let unknown = try read([:], ["ATTACHPREP_PROT": "80", "ATTACHPREP_MEDIA": "/m"]).unknownVariables
        #expect(unknown == ["ATTACHPREP_PROT"])
    }

    @Test func `A port that Kubernetes sets for a service of that name is an error that says so`() throws {
        let links = ["ATTACHPREP_PORT": "tcp://10.0.0.1:80", "ATTACHPREP_PORT_80_TCP_ADDR": "10.0.0.1"]
        let error = try #require(throws: AttachPrepError.self) { try read([:], links) }
        #expect(error.message.contains("ATTACHPREP_PORT is \"tcp://10.0.0.1:80\", which Kubernetes or Docker sets"))
        #expect(error.message.contains("enableServiceLinks: false"))
        let named = try read([.port: "9000"], links)
        #expect(named.service.port == 9000 && named.unknownVariables.isEmpty)
    }

    @Test(
        arguments: [
            ("20s", 20), ("10m", 600), ("12h", 43_200), ("7d", 604_800), ("1.5m", 90), ("30", 30),
        ] as [(String, Double)])
    func `Durations are parsed with units`(text: String, seconds: Double) {
        #expect(Quantity.seconds(text) == seconds)
    }

    @Test(arguments: ["", "s", "1w", "tens", "nan", "infs"]) func `An invalid duration is rejected`(text: String) {
        #expect(Quantity.seconds(text) == nil)
    }

    @Test(arguments: [("20GB", 20_000_000_000), ("500mb", 500_000_000), ("64kB", 64_000), ("7", 7), ("7B", 7)])
    func `Sizes have decimal units`(text: String, bytes: Int) {
        #expect(Quantity.bytes(text) == bytes)
    }
}
