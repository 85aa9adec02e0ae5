import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Glibc
public import Logging
import NIOCore
import NIOPosix

/// What a start rejects beyond the values of single settings, for `--check` and for the start itself.
extension ServeConfiguration {
    /// Checks everything that a start would reject, as `nginx -t` does: files of tokens and secrets, the address, the
    /// data folder, certificates, the bucket's form and credentials, the media process.
    ///
    /// Changes nothing, so that it can run beside a running service. Connections are not made, so a database or bucket
    /// that is away, and a port in use, are not found: `attachprep doctor` connects.
    ///
    /// - Throws: The error with which the start would fail.
    public func check(_ logger: Logger) async throws {
        let tokens = try accessTokens(logger)
        _ = try signingSecrets(logger)
        try checkListening(tokens)
        if !dataFolder.isEmpty { try values.naming(.data) { try DataFolder(path: dataFolder).check() } }
        let folder = try TemporaryDataFolder()
        defer { folder.remove() }
        var preparing = preparer
        preparing.output = "\(folder.path)/work"
        preparing.dataFolder = nil
        let client = try webhookClient(logger)
        await client.shutdown()
        let made = try AttachmentPreparer(preparing, logger: logger)
        await made.shutdown()
    }

    /// - Throws: `request.invalid`, with a message that names the setting.
    func accessTokens(_ logger: Logger) throws -> AccessTokens {
        // The list alone first, so that an error of the file is not reported as one of the list.
        _ = try values.naming(.tokens) { try AccessTokens(tokens, logger: logger) }
        return try values.naming(.tokenFile) { try AccessTokens(tokens, file: tokenFile, logger: logger) }
    }

    /// - Throws: `request.invalid`, with a message that names the setting.
    func signingSecrets(_ logger: Logger) throws -> WebhookSecrets {
        _ = try values.naming(.webhookSecrets) { try WebhookSecrets(literals: webhookSecrets, logger: logger) }
        return try values.naming(.webhookSecretFile) {
            try WebhookSecrets(literals: webhookSecrets, file: webhookSecretFile, logger: logger)
        }
    }

    /// Checks that the host is an address of this machine, and one that the service may have.
    ///
    /// - Throws: `request.invalid`, with a message that names the setting.
    func checkListening(_ tokens: AccessTokens) throws {
        try values.naming(.host) {
            if role == .serve { try LoopbackPolicy.check(host: service.host, tokens: tokens) }
            do {
                let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .bind(host: service.host, port: 0).wait()
                try? listener.close().wait()
            } catch {
                throw AttachPrepError(
                    .requestInvalid, "\(service.host) is not an address of this machine.", detail: "\(error)")
            }
        }
    }
}

extension DataFolder {
    /// Checks that the folder can be used, or created in the nearest existing parent.
    ///
    /// - Throws: `queue.unavailable`.
    fileprivate func check() throws {
        var parts = path.split(separator: "/")
        let root = path.hasPrefix("/") ? "/" : "./"
        while unsafe access(root + parts.joined(separator: "/"), F_OK) != 0, errno == ENOENT, !parts.isEmpty {
            parts.removeLast()
        }
        let existing = root + parts.joined(separator: "/")
        guard unsafe access(existing, R_OK | W_OK | X_OK) == 0 else { throw Self.unusableError(existing, errno) }
        var status = stat()
        guard unsafe stat(existing, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw Self.unusableError(existing, ENOTDIR)
        }
    }
}
