import ArgumentParser
import AttachPrepJobs
import AttachPrepService
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where the jobs of several machines are, and as whom we come there.
struct QueueOptionGroup: ParsableArguments {
    @Option(help: .of(.queue)) var queue: String?
    @Option(help: .of(.queuePrefix)) var queuePrefix: String?
    @Option(help: .of(.queueReplicas)) var queueReplicas: String?
    @Flag(help: .of(.queueAllowDivergingServer)) var queueAllowDivergingServer = false
    @Option(help: .of(.queueUser)) var queueUser: String?
    @Option(help: .of(.queuePasswordFile)) var queuePasswordFile: String?
    @Option(help: .of(.queueTokenFile)) var queueTokenFile: String?
    @Option(name: .customLong("queue-nkey-file"), help: .of(.queueNKeyFile)) var queueNKeyFile: String?
    @Option(help: .of(.queueCredentialsFile)) var queueCredentialsFile: String?
    @Option(name: .customLong("queue-ca-file"), help: .of(.queueCAFile)) var queueCAFile: String?
    @Option(help: .of(.queueCertificateFile)) var queueCertificateFile: String?
    @Option(help: .of(.queueKeyFile)) var queueKeyFile: String?

    /// The servers that are named here or in the environment; nil for none.
    ///
    /// - Throws: `ValidationError`.
    func servers() throws -> QueueServers? {
        do {
            return try QueueServers.named(flags: flags, environment: ProcessInfo.processInfo.environment)
        } catch let error as AttachPrepError {
            throw ValidationError(error.message)
        }
    }

    /// What was given.
    var flags: [Setting: String] {
        let values: [Setting: String?] = [
            .queue: queue, .queuePrefix: queuePrefix, .queueReplicas: queueReplicas,
            .queueAllowDivergingServer: SettingText.word(queueAllowDivergingServer), .queueUser: queueUser,
            .queuePasswordFile: queuePasswordFile, .queueTokenFile: queueTokenFile, .queueNKeyFile: queueNKeyFile,
            .queueCredentialsFile: queueCredentialsFile, .queueCAFile: queueCAFile,
            .queueCertificateFile: queueCertificateFile, .queueKeyFile: queueKeyFile,
        ]
        return values.compactMapValues { $0 }
    }
}
