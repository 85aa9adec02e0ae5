import PostgresDatabase
import Testing

@Test func `libpq tells its version`() {
    #expect(PostgresLibrary.version.hasPrefix("1"))
}
