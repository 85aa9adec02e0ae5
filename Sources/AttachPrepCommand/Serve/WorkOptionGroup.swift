import ArgumentParser
import AttachPrepService

/// The flags of `serve` and `worker`, as they were typed.
struct WorkOptionGroup: ParsableArguments {
    @Option(help: .of(.host)) var host: String?
    @Option(help: .of(.port)) var port: String?
    @Option(help: .of(.publish)) var publish: String?
    @Option(name: .customLong("publish-base-url"), help: .of(.publishBaseURL)) var publishBaseURL: String?
    @Option(name: .customLong("s3-endpoint"), help: .of(.s3Endpoint)) var s3Endpoint: String?
    @Option(name: .customLong("s3-region"), help: .of(.s3Region)) var s3Region: String?
    @Flag(name: .customLong("s3-path-style"), help: .of(.s3PathStyle)) var s3PathStyle = false
    @Option(name: .customLong("s3-cache-control"), help: .of(.s3CacheControl)) var s3CacheControl: String?
    @Option(help: .of(.state)) var state: String?
    @Option(help: .of(.webhookSecretFile)) var webhookSecretFile: String?
    @Option(help: .of(.allowCallbackNetwork)) var allowCallbackNetwork: [String] = []
    @Option(help: .of(.drain)) var drain: String?
    @Option(help: .of(.retention)) var retention: String?
    @Option(help: .of(.deadRetention)) var deadRetention: String?
    @Option(help: .of(.maxQueue)) var maxQueue: String?
    @Option(help: .of(.logFormat)) var logFormat: String?
    @Option(help: .of(.logLevel)) var logLevel: String?
    @Option(help: .of(.concurrency)) var concurrency: String?
    @Option(help: .of(.perHost)) var perHost: String?
    @Option(help: .of(.mediaSlots)) var mediaSlots: String?
    @Flag(help: .of(.requireSandbox)) var requireSandbox = false
    @Flag(help: .of(.httpsOnly)) var httpsOnly = false
    @Flag(help: .of(.allowPrivateNetwork)) var allowPrivateNetwork = false
    @Option(help: .of(.caFile)) var caFile: String?
    @Option(help: .of(.proxy)) var proxy: String?
    @Option(help: .of(.resolve)) var resolve: [String] = []

    /// What was given.
    var flags: [Setting: String] {
        let values: [Setting: String?] = [
            .host: host, .port: port, .publish: publish, .publishBaseURL: publishBaseURL, .s3Endpoint: s3Endpoint,
            .s3Region: s3Region, .s3PathStyle: SettingText.word(s3PathStyle), .s3CacheControl: s3CacheControl,
            .state: state, .webhookSecretFile: webhookSecretFile,
            .allowCallbackNetwork: SettingText.joined(allowCallbackNetwork), .drain: drain, .retention: retention,
            .deadRetention: deadRetention, .maxQueue: maxQueue, .logFormat: logFormat, .logLevel: logLevel,
            .concurrency: concurrency, .perHost: perHost, .mediaSlots: mediaSlots,
            .requireSandbox: SettingText.word(requireSandbox), .httpsOnly: SettingText.word(httpsOnly),
            .allowPrivateNetwork: SettingText.word(allowPrivateNetwork), .caFile: caFile, .proxy: proxy,
            .resolve: SettingText.joined(resolve),
        ]
        return values.compactMapValues { $0 }
    }
}

/// Flags as the environment would say them.
enum SettingText {
    static func joined(_ values: [String]) -> String? { values.isEmpty ? nil : values.joined(separator: ",") }

    /// A flag that is not there leaves the word to the environment.
    static func word(_ isOn: Bool) -> String? { isOn ? "true" : nil }
}
