package import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Linux
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Parses the values of settings; errors name the flag, the variable, or the file's key and line.
struct SettingReader {
    let values: SettingValues

    init(_ values: SettingValues) {
        self.values = values
    }

    /// A setting's value, and the name of where it came from; nil if it is missing or empty.
    func text(_ setting: Setting) -> (value: String, name: String)? {
        values[setting].map { ($0.text, values.name(of: setting)) }
    }

    func value<Value>(_ setting: Setting, _ remedy: String, _ read: (String) -> Value?) throws -> Value? {
        guard let (text, name) = text(setting) else { return nil }
        if let value = read(text) { return value }
        let shown = setting.isSecret ? "value" : "value \"\(text)\""
        throw AttachPrepError(.requestInvalid, "Invalid \(shown) for \(name); \(remedy)")
    }

    func whole(_ setting: Setting, _ range: ClosedRange<Int>) throws -> Int? {
        try value(setting, "give a whole number from \(range.lowerBound) to \(range.upperBound).") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func seconds(_ setting: Setting, _ range: ClosedRange<Double>) throws -> Double? {
        let limits = "\(Quantity.text(seconds: range.lowerBound)) to \(Quantity.text(seconds: range.upperBound))"
        return try value(setting, "give a duration from \(limits), such as 20s, 10m, 12h or 7d.") {
            Quantity.seconds($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ setting: Setting, _: Choice.Type) throws -> Choice? {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return try value(setting, "give one of \(words).") { Choice(rawValue: $0.lowercased()) }
    }

    func isOn(_ setting: Setting) throws -> Bool {
        try value(setting, "give true or false.") { text -> Bool? in
            switch text.lowercased() {
            case "true", "yes", "1", "on": true
            case "false", "no", "0", "off": false
            default: nil
            }
        } ?? false
    }

    /// The values of a list separated by commas, trimmed, without empty ones.
    func list(_ setting: Setting) -> [String] {
        (text(setting)?.value ?? "").split(separator: ",").map { String($0.trimmingWhitespace) }.filter {
            !$0.isEmpty
        }
    }
}

extension SettingReader {
    /// Networks in CIDR notation.
    ///
    /// - Throws: `request.invalid`, with a message that names the setting.
    func networks(_ setting: Setting) throws -> [AddressBlock] {
        try list(setting).map { text in try values.naming(setting) { try AddressBlock(text) } }
    }
}

extension SettingReader {
    /// Nil without a name.
    ///
    /// - Throws: `request.invalid`, with a message that names the setting.
    func environment() throws -> ServiceEnvironment? {
        let color = try choice(.environmentColor, ServiceEnvironment.Color.self)
        let remedy = "give 1 to \(Limits.environmentNameCharactersMax) printable characters."
        let name = try value(.environmentName, remedy) { text in
            let isPrintable = text.unicodeScalars.allSatisfy { !$0.properties.generalCategory.isUnprintable }
            return text.count <= Limits.environmentNameCharactersMax && isPrintable ? text : nil
        }
        return name.map { ServiceEnvironment(name: $0, color: color ?? .gray) }
    }
}

extension Unicode.GeneralCategory {
    /// Whether a character of it would break or disguise a name.
    fileprivate var isUnprintable: Bool {
        [.control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator].contains(self)
    }
}

extension PublishDestination {
    /// The publish target of a command that reads neither a configuration file nor the variables of settings.
    ///
    /// - Throws: `request.invalid`, with a message that names the invalid flag.
    package init(flags: [Setting: String], environment: [String: String]) throws {
        let values = SettingValues(flags: flags, environment: [:], file: nil)
        self = try SettingReader(values).publishTarget(environment: environment)
    }
}

extension SettingReader {
    /// The publish target from `--publish` and the `--s3-…` settings.
    ///
    /// - Throws: `request.invalid`, with a message that names the invalid setting.
    func publishTarget(environment: [String: String]) throws -> PublishDestination {
        guard let (text, name) = text(.publish) else { return .folder }
        let target: PublishDestination
        do {
            target = try PublishDestination(text, environment: environment)
        } catch {
            throw AttachPrepError(.requestInvalid, "Invalid value \"\(text)\" for \(name). \(error.message)")
        }
        guard case .bucket(var settings) = target else { return target }
        settings.endpoint = try address(.s3Endpoint)
        settings.region = try value(.s3Region, "give letters, digits and hyphens, as in eu-west-1.") { text in
            S3Settings.isRegion(text) ? text : nil
        }
        settings.usesPathStyle = try isOn(.s3PathStyle) ? true : nil
        settings.cacheControl = self.text(.s3CacheControl)?.value
        settings.layout = try choice(.s3Layout, ResultLayout.self) ?? settings.layout
        return .bucket(settings)
    }

    /// The operator's rows of targets.
    ///
    /// - Throws: `request.invalid`, with a message that names the setting.
    func targetProfiles() throws -> [TargetRendition] {
        do {
            return try TargetTable.profiles(list(.targetProfile))
        } catch let error as AttachPrepError {
            throw AttachPrepError(.requestInvalid, "Invalid value for \(Setting.targetProfile.flag). \(error.message)")
        }
    }

    /// The service's policy of retries; nil for the default.
    ///
    /// - Throws: `request.invalid`, with what is wrong with it.
    func retryOptions() throws -> RetryOptions? {
        guard let (text, name) = text(.retry) else { return nil }
        do {
            let options = try RetryOptions(text: text)
            guard options.until == nil else {
                throw AttachPrepError(.requestInvalid, "\"until\" is a time of one job; leave it out.")
            }
            return options
        } catch let error as AttachPrepError {
            throw AttachPrepError(.requestInvalid, "Invalid value \"\(text)\" for \(name). \(error.message)")
        }
    }

    /// The names that show whether name servers can be reached: the operator's, else the hosts of other settings.
    func resolverProbes() throws -> [String] {
        let names = list(.resolverProbe)
        if !names.isEmpty { return names }
        return try [Setting.s3Endpoint, .baseURL].compactMap { setting in
            guard let host = try address(setting).flatMap({ try? WebAddress($0).host }) else { return nil }
            return IPAddress(host) == nil && host.lowercased() != "localhost" ? host : nil
        }
    }

    /// A base URL: http or https, without query and fragment.
    func address(_ setting: Setting) throws -> String? {
        try value(setting, "give an http or https URL without a query.") { text in
            (try? WebAddress(text)) != nil && !text.contains("?") && !text.contains("#") ? text : nil
        }
    }
}
