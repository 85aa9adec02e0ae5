internal import SQLStore

/// What `attachprep doctor` reports about the database.
public struct PostgresDiagnostics: Codable, Sendable, Hashable {
    /// libpq's version, such as 15.18.
    public var clientVersion: String
    /// The server's version, such as 15.18.
    public var serverVersion: String
    /// Host and port that the connection goes to.
    public var host: String
    /// Whether a PgBouncer or another pooler answers instead of the server.
    public var isPooled: Bool
    public var role: String
    /// Whether the role may create the queue's schema or, if it exists, tables in it.
    public var mayCreateTables: Bool
    /// Whether the role sees the transactions of others (`pg_monitor`): otherwise their ages are unknown.
    public var seesOtherSessions: Bool
    /// The TLS version, such as TLSv1.3; nil without TLS.
    public var tls: String?
    /// The file with the authorities for the server's certificate; nil when libpq looks for its own.
    public var rootCertificateFile: String?
    public var isInRecovery: Bool
    public var durability: PostgresDurability
    public var health: PostgresHealth
    public var tables: [Table]
    public var slots: [Slot]

    public struct Table: Codable, Sendable, Hashable {
        public var name: String
        public var liveRows: Int64
        public var deadRows: Int64
        /// Settings of this table, such as `autovacuum_vacuum_threshold=1000`.
        public var settings: String
    }

    /// A replication slot: one without a reader keeps dead rows and WAL without a limit.
    public struct Slot: Codable, Sendable, Hashable {
        public var name: String
        public var isActive: Bool
        /// Transactions since the oldest one whose rows it keeps; nil when it keeps none.
        public var transactionAge: Int64?
        /// Bytes of WAL that it keeps.
        public var keptBytes: Int64?
    }
}

/// Numbers that say whether dead rows pile up, for metrics.
public struct PostgresHealth: Codable, Sendable, Hashable {
    /// Dead rows of the hot table, `job`; nil while it does not exist.
    public var deadRows: Int64?
    /// The age of the oldest transaction that keeps dead rows; nil when there is none or the role may not see it.
    public var oldestTransactionSeconds: Int64?

    /// Sessions that hold a snapshot and prepared transactions.
    static func query(_ schema: PostgresSchema) -> SQLStatement {
        SQLStatement(
            """
            SELECT
                (SELECT n_dead_tup FROM pg_catalog.pg_stat_user_tables WHERE schemaname = $1 AND relname = 'job'),
                (SELECT CAST(max(extract(epoch FROM pg_catalog.clock_timestamp() - since)) AS bigint) FROM (
                    SELECT xact_start AS since FROM pg_catalog.pg_stat_activity
                    WHERE backend_xmin IS NOT NULL AND pid <> pg_catalog.pg_backend_pid()
                    UNION ALL SELECT prepared FROM pg_catalog.pg_prepared_xacts
                ) AS held)
            """, [.text(schema.name)])
    }

    init(_ row: SQLRow?) {
        deadRows = row?[0]
        oldestTransactionSeconds = row?[1]
    }
}

extension PostgresDatabase {
    /// Cheap numbers for metrics: one query.
    ///
    /// - Throws: `SQLError`.
    public func health() async throws -> PostgresHealth {
        let query = PostgresHealth.query(schema)
        return try await read { PostgresHealth(try $0.row(query.sql, query.arguments)) }
    }

    /// - Throws: `SQLError`.
    public func diagnostics() async throws -> PostgresDiagnostics {
        let connection = try await connectionFacts()
        let (schema, file) = (schema, address.rootCertificateFile)
        return try await read { transaction in
            let results = try transaction.run([
                PostgresDiagnostics.serverQuery(schema), PostgresHealth.query(schema),
                PostgresDiagnostics.tableQuery(schema), PostgresDiagnostics.slotQuery,
            ])
            let server = results[0].rows.first ?? SQLRow([])
            let seesOthers: Bool = server[3]
            return PostgresDiagnostics(
                clientVersion: PostgresLibrary.version, serverVersion: server[0], host: connection.host,
                isPooled: connection.processID != server[9], role: server[1], mayCreateTables: server[2],
                seesOtherSessions: seesOthers, tls: connection.tlsVersion, rootCertificateFile: file,
                isInRecovery: server[4],
                durability: PostgresDurability(
                    fsync: server[5], fullPageWrites: server[6], synchronousCommit: server[7],
                    synchronousStandbyNames: server[8], synchronousStandbys: seesOthers ? server[10] : nil),
                health: PostgresHealth(results[1].rows.first),
                tables: results[2].rows.map {
                    PostgresDiagnostics.Table(name: $0[0], liveRows: $0[1], deadRows: $0[2], settings: $0[3])
                },
                slots: results[3].rows.map {
                    PostgresDiagnostics.Slot(name: $0[0], isActive: $0[1], transactionAge: $0[2], keptBytes: $0[3])
                })
        }
    }
}

extension PostgresDiagnostics {
    /// One row; everything in it can be read by any role.
    fileprivate static func serverQuery(_ schema: PostgresSchema) -> SQLStatement {
        SQLStatement(
            """
            SELECT current_setting('server_version'), CAST(current_user AS text),
                CASE WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1)
                    THEN has_schema_privilege(CAST((SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1) AS oid),
                        'CREATE')
                    ELSE has_database_privilege(current_database(), 'CREATE') END,
                pg_has_role('pg_read_all_stats', 'USAGE'), pg_is_in_recovery(),
                current_setting('fsync') = 'on', current_setting('full_page_writes') = 'on',
                current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), pg_backend_pid(),
                (SELECT count(*) FROM pg_catalog.pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))
            """, [.text(schema.name)])
    }

    fileprivate static func tableQuery(_ schema: PostgresSchema) -> SQLStatement {
        SQLStatement(
            """
            SELECT CAST(s.relname AS text), s.n_live_tup, s.n_dead_tup,
                coalesce(array_to_string(c.reloptions, ', '), '')
            FROM pg_catalog.pg_stat_user_tables AS s JOIN pg_catalog.pg_class AS c ON c.oid = s.relid
            WHERE s.schemaname = $1 ORDER BY s.relname LIMIT 100
            """, [.text(schema.name)])
    }

    fileprivate static let slotQuery = SQLStatement(
        """
        SELECT CAST(slot_name AS text), active, CAST(greatest(age(xmin), age(catalog_xmin)) AS bigint),
            CAST(pg_wal_lsn_diff(
                CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END,
                restart_lsn) AS bigint)
        FROM pg_catalog.pg_replication_slots ORDER BY slot_name LIMIT 100
        """)
}
