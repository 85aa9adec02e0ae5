public import AttachPrepJobs
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension QueueServers {
    /// Those that are named on a command line or in the environment; nil for none.
    ///
    /// - Throws: `request.invalid`, whose sentence names the flag or the variable at fault.
    public static func named(flags: [Setting: String], environment: [String: String]) throws -> QueueServers? {
        try SettingReader(flags: flags, environment: environment).queueServers()
    }
}

extension SettingReader {
    /// The servers that jobs are on; nil for a data folder of this machine.
    ///
    /// - Throws: `request.invalid`, whose sentence names the flag or the variable at fault.
    func queueServers() throws -> QueueServers? {
        guard let (text, name) = text(.queue), text != "file:" else { return nil }
        guard QueueServers.isMeant(by: text) else {
            throw AttachPrepError(
                .requestInvalid, "\(name) cannot be \"\(text)\"; give file: or nats://host,host,host.")
        }
        var servers: QueueServers
        do {
            servers = try QueueServers(text)
        } catch let error as AttachPrepError {
            throw AttachPrepError(.requestInvalid, "\(name) cannot be read. \(error.message)")
        }
        if servers.namesIdentity, name == Setting.queue.flag {
            throw AttachPrepError(
                .requestInvalid,
                "\(name) is seen by everybody on this machine; name user and password in \(Setting.queue.variable), "
                    + "or with \(Setting.queueUser.flag) and \(Setting.queuePasswordFile.flag).")
        }
        servers.prefix = try prefix() ?? servers.prefix
        servers.replicas = try whole(.queueReplicas, 1...5)
        servers.allowsDivergingServer = try isOn(.queueAllowDivergingServer)
        try identify(&servers)
        try secure(&servers)
        return servers
    }

    private func prefix() throws -> String? {
        try value(.queuePrefix, "give up to 32 letters, digits, - and _.") { text in
            let isName = text.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45
                    || byte == 95
            }
            return isName && text.utf8.count <= 32 ? text : nil
        }
    }

    // MARK: Who we are

    private func identify(_ servers: inout QueueServers) throws {
        var count = 0
        if let user = text(.queueUser)?.value {
            servers.come(as: user, password: try secret(.queuePassword, orIn: .queuePasswordFile) ?? "")
            count += 1
        }
        if let token = try secret(.queueToken, orIn: .queueTokenFile) {
            servers.come(with: token)
            count += 1
        }
        if let path = try file(.queueNKeyFile) {
            try named(.queueNKeyFile) { try servers.come(withSeed: try Self.content(of: path), in: path) }
            count += 1
        }
        if let path = try file(.queueCredentialsFile) {
            servers.come(withCredentials: path)
            count += 1
        }
        guard count < 2 else {
            throw AttachPrepError(
                .requestInvalid, "The queue's servers know us by one of user, token, nkey and credentials; give one.")
        }
    }

    private func secure(_ servers: inout QueueServers) throws {
        let (certificate, key) = (try file(.queueCertificateFile), try file(.queueKeyFile))
        guard (certificate == nil) == (key == nil) else {
            throw AttachPrepError(
                .requestInvalid,
                "\(Setting.queueCertificateFile.flag) and \(Setting.queueKeyFile.flag) go together; give both.")
        }
        let own = certificate.flatMap { file in key.map { (file: file, key: $0) } }
        servers.secure(authority: try file(.queueCAFile), certificate: own)
    }

    // MARK: Files

    private func file(_ setting: Setting) throws -> String? {
        try value(setting, "give a file that can be read.") { path in
            FileManager.default.isReadableFile(atPath: path) ? path : nil
        }
    }

    private func secret(_ setting: Setting, orIn fileSetting: Setting) throws -> String? {
        if let text = text(setting)?.value { return text }
        guard let path = try file(fileSetting) else { return nil }
        let text = try named(fileSetting) { try Self.content(of: path) }.filter { !$0.isWhitespace }
        return text.isEmpty ? nil : text
    }

    private static func content(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw AttachPrepError(.requestInvalid, "It cannot be read.")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Says which setting is at fault.
    private func named<Value>(_ setting: Setting, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as AttachPrepError {
            throw AttachPrepError(
                .requestInvalid, "\(text(setting)?.name ?? setting.flag) cannot be used. \(error.message)")
        }
    }
}
