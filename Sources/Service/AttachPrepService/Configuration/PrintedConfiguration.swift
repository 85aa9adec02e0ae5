import AttachPrep
import MediaTypes

extension ServeConfiguration {
    /// Every setting with its value and source, for `--print-config`: itself a configuration file, in which secrets,
    /// and settings without a value, are comments.
    ///
    /// ```yaml
    /// host: 127.0.0.1  # default
    /// max-queue: 20000  # /etc/attachprep/attachprep.yaml:3
    /// # tokens: (hidden)  # ATTACHPREP_TOKENS
    /// ```
    public var printed: String {
        let command = role == .serve ? "serve" : "worker"
        let lines = Setting.allCases.map { PrintedSetting($0, self).line }
        let head = "# attachprep \(command): each setting with its value and where it comes from."
        return ([head] + lines).joined(separator: "\n")
    }
}

/// One setting of `ServeConfiguration.printed`.
private struct PrintedSetting {
    let line: String

    init(_ setting: Setting, _ configuration: ServeConfiguration) {
        guard let value = configuration.values[setting] else {
            line = Self.defaultLine(setting, configuration: configuration)
            return
        }
        let source = Self.text(value.source, setting: setting)
        let shown = Self.withoutCredentials(value.text, of: setting)
        guard setting.isFileKey, !setting.isSecret, shown == value.text else {
            let isWhole = shown == value.text
            let text = setting.isSecret ? "(hidden)" : isWhole ? shown : "\(shown) (credentials hidden)"
            line = "# \(setting.key): \(text.escapingControls)  # \(source)"
            return
        }
        let texts = setting.isList ? value.text.split(separator: ",").map(String.init) : [value.text]
        let quoted = texts.map { Self.quoted(String($0.trimmingPrefix(while: \.isWhitespace))) }
        line = "\(setting.key): \(setting.isList ? "[\(quoted.joined(separator: ", "))]" : quoted[0])  # \(source)"
    }

    private static func defaultLine(_ setting: Setting, configuration: ServeConfiguration) -> String {
        if let text = setting.defaultValue(in: configuration) { return "\(setting.key): \(quoted(text))  # default" }
        return "# \(setting.key):  # \(setting.defaultText.map { "default: \($0)" } ?? "not set")"
    }

    private static func text(_ source: SettingSource, setting: Setting) -> String {
        switch source {
        case .flag: setting.flag
        case .variable: setting.variable
        case .file(let path, let line): "\(path):\(line)".escapingControls
        }
    }

    /// User names and passwords in URLs removed.
    private static func withoutCredentials(_ text: String, of setting: Setting) -> String {
        guard setting.valueName == "url" || setting == .queue || setting == .publish, text.contains("@") else {
            return text
        }
        let start = text.firstRange(of: "://")?.upperBound ?? text.startIndex
        guard let at = text[start...].lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }

    /// A text as a YAML scalar, in quotes unless YAML reads it as the same text.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { isName($0) || ".-_+=~:".utf8.contains($0) }
        let ends = [text.utf8.first, text.utf8.last].compactMap { $0 }
        let isRead = !ends.isEmpty && ends.allSatisfy(isName) && !["null", "Null", "NULL"].contains(text)
        guard !isPlain || !isRead else { return text }
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 32 || scalar.value == 127:
                "\\u" + String(repeating: "0", count: scalar.value < 16 ? 3 : 2) + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

private func isName(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "/")
}

extension Setting {
    /// The value that a configuration file would give for the default; nil if there is none, or if it follows from
    /// other settings.
    func defaultValue(in configuration: ServeConfiguration) -> String? {
        switch self {
        case .port: "\(configuration.service.port)"
        case .connectionsPerAddress: "\(configuration.service.connectionsPerAddressMax)"
        case .mediaSlots: "\(configuration.preparer.mediaSlots)"
        case .data: configuration.dataFolder.isEmpty ? nil : configuration.dataFolder
        case .baseURL, .publishBaseURL, .s3CacheControl, .resolverProbe: nil
        default: valueName == nil ? "false" : defaultText
        }
    }
}
