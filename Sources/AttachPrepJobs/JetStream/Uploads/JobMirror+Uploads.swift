import GRDB

extension JobMirror {
    /// Whether a job needs the upload: one that runs, will run, or may be asked to run again.
    func needs(upload: String) async throws -> Bool {
        try await read { database in
            try database.number(
                "SELECT 1 FROM (SELECT ? AS id) AS upload WHERE \(ExpiredUploads.isNeeded)", [upload]) != nil
        }
    }
}
