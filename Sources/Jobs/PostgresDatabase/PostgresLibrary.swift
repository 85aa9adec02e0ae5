import CPostgres

/// libpq.
public enum PostgresLibrary {
    /// Its version at run time, such as 15.18 (PQlibVersion).
    public static var version: String {
        let number = PQlibVersion()
        return "\(number / 10_000).\(number % 10_000)"
    }
}
