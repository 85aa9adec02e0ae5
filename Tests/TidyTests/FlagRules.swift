/// Sentences that callers of the HTTP service may read name no command-line flag: they have no command line.
enum FlagRules {
    /// Modules whose messages reach callers.
    static let modules: Set<String> = [
        "RichPush", "AttachPrepModel", "PushPayload", "MediaProcessing", "AttachPrep", "AttachPrepJobs", "SQLStore",
        "SQLiteDatabase", "PostgresDatabase", "AttachPrepService",
    ]

    /// Files whose messages only the operator reads: at the start of a command or in the log.
    static let operators: Set<String> = [
        "Sources/AttachPrep/Network/HostResolver.swift",
        "Sources/AttachPrep/Network/IPAddress.swift",
        "Sources/AttachPrep/Publish/PublishTarget.swift",
        "Sources/AttachPrep/Publish/S3Bucket.swift",
        "Sources/SQLiteDatabase/DatabaseCheck.swift",
        "Sources/SQLiteDatabase/SQLiteStore.swift",
        "Sources/AttachPrepJobs/Storage/DataFolder.swift",
        "Sources/AttachPrepJobs/Webhooks/WebhookSecret.swift",
        "Sources/AttachPrepService/Access/AccessTokens.swift",
        "Sources/AttachPrepService/Access/LoopbackPolicy.swift",
        "Sources/AttachPrepService/Configuration/ServeConfiguration.swift",
        "Sources/AttachPrepService/Configuration/Setting.swift",
        "Sources/AttachPrepService/Server/AttachmentServer.swift",
        "Sources/AttachPrepService/Server/HTTPApplication.swift",
    ]

    static func check(_ file: TextFile) -> [Finding] {
        guard file.isSwift, let module = file.module, modules.contains(module), !operators.contains(file.path) else {
            return []
        }
        return file.lines.enumerated().compactMap { index, line in
            guard !line.drop(while: \.isWhitespace).hasPrefix("//"), let flag = flag(in: line) else { return nil }
            return Finding(
                file.path, index + 1,
                "\(flag): callers of the service may read this; name the request's key, or say it in words")
        }
    }

    private static func flag(in line: Substring) -> Substring? {
        let match = line.firstMatch(of: /(^|[^-a-z])(--[a-z][a-z0-9-]+)/)
        return match?.2
    }
}
