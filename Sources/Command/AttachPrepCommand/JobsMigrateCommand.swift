import ArgumentParser
import AttachPrepModel
import AttachPrepService
import Logging
import MediaTypes
import PostgresDatabase

extension JobsCommand {
    /// `attachprep jobs migrate`
    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate",
            abstract: "Create or upgrade the tables of a queue in PostgreSQL.",
            discussion: """
                serve and worker do so when they start, if their role may create tables. With a role that may not, run \
                this first, as the owner of the schema.
                """)

        @OptionGroup(title: "Queue in PostgreSQL") var queue: QueueOptionGroup

        func run() async throws {
            guard let database = try queue.database() else {
                throw ValidationError("Give the database: --queue postgres://user@host/database.")
            }
            do {
                let opened = try await database.open(.standardError(.error))
                await opened.close()
                StandardStreams.result(
                    "The tables in schema \(database.schema.name) of \(database.address) are up to date.")
            } catch let error as AttachPrepError {
                StandardStreams.error(error.detail.map { "\(error.message) [\($0)]" } ?? error.message)
                throw ExitCodeError.someRejected
            }
        }
    }
}
