import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import Linux
import MediaTypes
public import PostgresDatabase
public import SQLStore

/// The PostgreSQL database of a queue that several machines share.
public struct QueueDatabase: Sendable, CustomStringConvertible {
    /// The schema of its tables, unless another one is set.
    public static let defaultSchema = "attachprep"

    public let address: PostgresAddress
    public let schema: PostgresSchema
    /// Nil where no secrets are read or written: for `doctor` and `jobs migrate`.
    public let seal: SecretSeal?

    /// User, hosts and database.
    public var description: String { address.description }

    /// The database of `--queue` and the environment; nil for a queue in the data folder.
    ///
    /// - Parameter needsKeys: whether the file of keys is read, too.
    /// - Throws: `request.invalid`, with a message that names the invalid setting.
    public static func named(
        flags: [Setting: String], environment: [String: String], needsKeys: Bool = false
    ) throws -> QueueDatabase? {
        try SettingReader(SettingValues(flags: flags, environment: environment, file: nil))
            .queueDatabase(needsKeys: needsKeys)
    }
}

extension SettingReader {
    /// - Throws: `request.invalid`, with a message that names the invalid setting.
    func queueDatabase(needsKeys: Bool = true) throws -> QueueDatabase? {
        guard let (text, name) = text(.queue), text != "file:" else { return nil }
        guard ["postgres://", "postgresql://"].contains(where: { text.utf8.starts(with: $0.utf8) }) else {
            throw AttachPrepError(
                .requestInvalid, "Invalid value for \(name); give file: or postgres://user@host/database.")
        }
        return QueueDatabase(
            address: try values.naming(.queue) { try PostgresAddress(text) },
            schema: try values.naming(.queueSchema) {
                try PostgresSchema(self.text(.queueSchema)?.value ?? QueueDatabase.defaultSchema)
            },
            seal: needsKeys ? try seal() : nil)
    }

    private func seal() throws -> SecretSeal {
        guard let path = text(.queueKeyFile)?.value else {
            throw AttachPrepError(
                .requestInvalid,
                "A queue in PostgreSQL requires \(Setting.queueKeyFile.flag), whose keys seal the secrets of jobs; "
                    + "make one with: echo \"k1:$(openssl rand -base64 32)\".")
        }
        return try values.naming(.queueKeyFile) {
            do {
                return try SecretSeal(try SmallFile.text(of: path, bytesMax: Limits.tokenFileBytesMax))
            } catch let error as SmallFileError {
                throw AttachPrepError(
                    .requestInvalid,
                    error == .tooLarge
                        ? "The file exceeds \(Limits.tokenFileBytesMax) bytes." : "The file is not readable.")
            }
        }
    }
}
