/// What a commit survives, by the server's settings.
public struct PostgresDurability: Codable, Sendable, Hashable {
    public var fsync: Bool
    public var fullPageWrites: Bool
    /// `on`, `off`, `local`, `remote_write` or `remote_apply`.
    public var synchronousCommit: String
    /// The setting; empty without synchronous standbys.
    public var synchronousStandbyNames: String
    /// Standbys that are connected and confirm commits now; nil when the role may not see them.
    public var synchronousStandbys: Int?

    public init(
        fsync: Bool, fullPageWrites: Bool, synchronousCommit: String, synchronousStandbyNames: String,
        synchronousStandbys: Int?
    ) {
        self.fsync = fsync
        self.fullPageWrites = fullPageWrites
        self.synchronousCommit = synchronousCommit
        self.synchronousStandbyNames = synchronousStandbyNames
        self.synchronousStandbys = synchronousStandbys
    }

    /// Whether an acknowledged job survives the end of PostgreSQL's processes.
    public var survivesCrash: Bool { synchronousCommit != "off" }

    /// Whether it survives the loss of power of the primary.
    public var survivesPowerLoss: Bool { survivesCrash && fsync && fullPageWrites }

    /// Whether it survives the loss of the primary's disk.
    public var survivesPrimary: Bool {
        !synchronousStandbyNames.isEmpty && ["on", "remote_write", "remote_apply"].contains(synchronousCommit)
    }

    /// What an acknowledgment survives and which setting to change.
    public var sentence: String {
        guard survivesCrash else {
            return "An acknowledged job may be lost when PostgreSQL crashes: synchronous_commit is off; set it to on."
        }
        let start = "An acknowledged job survives a crash of PostgreSQL's processes"
        guard survivesPowerLoss else {
            return "\(start), but not a power loss: \(fsync ? "full_page_writes" : "fsync") is off; set it to on."
        }
        guard survivesPrimary else {
            let reason =
                synchronousStandbyNames.isEmpty
                ? "synchronous_standby_names is empty" : "synchronous_commit is \(synchronousCommit)"
            return "\(start) and a power loss, but not the loss of the primary's disk: \(reason)."
        }
        guard synchronousCommit != "remote_write" else {
            return
                "\(start), a power loss, and the loss of the primary unless the standby loses power at the same time: "
                + "synchronous_commit is remote_write."
        }
        guard synchronousStandbys != 0 else {
            return "No synchronous standby is connected, so jobs are not acknowledged until one is."
        }
        return "\(start), a power loss and the loss of the primary: a synchronous standby has written it to its disk."
    }
}
