import ArgumentParser
import AttachPrep
import AttachPrepJobs
import AttachPrepModel
import FoundationEssentials
import MediaTypes

extension JobsCommand {
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retry", abstract: "Queue failed, dead or cancelled jobs again.")

        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID] = []
        @Flag(help: "Retry all dead jobs.") var allDead = false
        @OptionGroup var choice: JobFilterOptionGroup
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard [!ids.isEmpty, allDead, choice.isGiven].count(where: \.self) == 1 else {
                throw ValidationError("Give IDs, --all-dead, or a filter such as --batch ID.")
            }
            if let open = choice.state.first(where: { !$0.isRetryable }) {
                throw ValidationError("Jobs of state \(open.rawValue) cannot be retried.")
            }
        }

        func run() async throws {
            if choice.isGiven {
                return try await client.use { client, _ in
                    StandardStreams.result("\(try await client.retry(choice.filter())) queued.")
                    return true
                }
            }
            try await client.each(ids, orAll: allDead ? .dead : nil) { client, id, format in
                let job = try await client.retry(id)
                return format == .json ? try JSONEncoder.singleLine.text(job) : "\(id) queued"
            }
        }
    }

    struct Cancel: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "cancel", abstract: "Cancel jobs; running ones stop when their worker next checks.")

        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID] = []
        @Flag(help: "Cancel all queued jobs.") var allQueued = false
        @OptionGroup var choice: JobFilterOptionGroup
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard [!ids.isEmpty, allQueued, choice.isGiven].count(where: \.self) == 1 else {
                throw ValidationError("Give IDs, --all-queued, or a filter such as --batch ID.")
            }
            if let ended = choice.state.first(where: \.isFinished) {
                throw ValidationError("Jobs of state \(ended.rawValue) cannot be cancelled.")
            }
        }

        func run() async throws {
            if choice.isGiven {
                return try await client.use { client, _ in
                    StandardStreams.result("\(try await client.cancel(choice.filter())) cancelled.")
                    return true
                }
            }
            try await client.each(ids, orAll: allQueued ? .queued : nil) { client, id, format in
                let job = try await client.cancel(id)
                return format == .json ? try JSONEncoder.singleLine.text(job) : "\(id) \(job.state.rawValue)"
            }
        }
    }

    struct Priority: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "priority", abstract: "Move queued jobs into another lane.")

        @Argument(help: ArgumentHelp("The new priority: high, normal or bulk.", valueName: "priority"))
        var priority: JobPriority
        @Argument(help: ArgumentHelp("IDs of jobs.", valueName: "id")) var ids: [JobID] = []
        @OptionGroup var choice: JobFilterOptionGroup
        @OptionGroup var client: JobsClientOptionGroup

        func validate() throws {
            guard ids.isEmpty == choice.isGiven else {
                throw ValidationError("Give either IDs or a filter such as --batch ID.")
            }
        }

        func run() async throws {
            var filter = choice.filter()
            filter.states = [.queued]
            if !ids.isEmpty { filter.ids = ids }
            try await client.use { client, _ in
                StandardStreams.result("\(try await client.change(filter, to: priority)) moved.")
                return true
            }
        }
    }
}
