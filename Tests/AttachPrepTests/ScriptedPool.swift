import AttachPrep
import TestSupport

extension ScriptedChild {
    /// Runs a pool of such children, and ends it.
    func withPool<Result>(slots: Int = 1, _ body: (MediaProcessPool) async throws -> Result) async throws -> Result {
        let pool = try MediaProcessPool(executable: path, mediaSlots: slots)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(pool)) } catch { result = .failure(error) }
        await pool.shutdown()
        return try withExtendedLifetime(folder) { try result.get() }
    }
}
