/// What both files say under one name. Pure.
struct AWSProfile: Sendable, Hashable {
    let name: String
    /// Its section of the credentials file; nil when there is none.
    let credentials: [String: String]?
    /// Its section of the configuration; nil when there is none.
    let configuration: [String: String]?
    /// The section of services that it names.
    private let services: [String: String]

    init(_ name: String, credentials: AWSProfileFile, configuration: AWSProfileFile) {
        self.name = name
        self.credentials = credentials.sections[name]
        let plain = name == "default" ? configuration.sections["default"] : nil
        let own = configuration.sections["profile \(name)"] ?? plain
        self.configuration = own
        services = own?["services"].flatMap { configuration.sections["services \($0)"] } ?? [:]
    }

    /// Which profile is meant: `AWS_PROFILE`, else "default".
    static func name(in environment: [String: String]) -> (name: String, isAsked: Bool) {
        guard let asked = environment.value("AWS_PROFILE") ?? environment.value("AWS_DEFAULT_PROFILE") else {
            return ("default", false)
        }
        return (asked, true)
    }

    /// A value of either file; an empty one counts as none.
    subscript(_ key: String) -> String? { credentials?.value(key) ?? configuration?.value(key) }

    /// Where S3 is, for this profile.
    var s3Endpoint: String? { services.value("s3.endpoint_url") ?? self["endpoint_url"] }
}

extension [String: String] {
    /// A variable's or key's value; an empty one counts as none.
    func value(_ name: String) -> String? { self[name].flatMap { $0.isEmpty ? nil : $0 } }
}
