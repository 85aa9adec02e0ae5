public import Logging
extension Logger {
    public init(label: String, _ format: ServeConfiguration.LogFormat, _ level: Logger.Level) {
        self.init(label: label) { StreamLogHandler.standardError(label: $0) }
        logLevel = level
    }
}
