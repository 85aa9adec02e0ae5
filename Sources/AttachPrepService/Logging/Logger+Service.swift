public import Logging

extension Logger {
    /// A log on standard error as the service was told to write it.
    public init(label: String, _ format: ServeConfiguration.LogFormat, _ level: Logger.Level) {
        self.init(label: label) { ServiceLogHandler(label: $0, format: format, logLevel: level) }
    }
}
