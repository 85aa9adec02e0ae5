/// Sentences that callers of the HTTP service may read name no command-line flag: they have no command line.
enum FlagRules {
    /// Modules whose messages reach callers.
    static let modules: Set<String> = [
        "RichPush", "AttachPrepModel", "PushPayload", "MediaProcessing", "AttachPrep", "AttachPrepJobs", "SQLStore",
        "SQLiteDatabase", "PostgresDatabase", "AttachPrepService",
    ]

    /// Files whose messages only the operator reads: at the start of a command or in the log.
    static let operators: Set<String> = [
        "Sources/Preparation/AttachPrep/Network/HostResolver.swift",
        "Sources/Preparation/AttachPrep/Network/IPAddress.swift",
        "Sources/Preparation/AttachPrep/Publish/PublishTarget.swift",
        "Sources/Preparation/AttachPrep/Publish/AWS/S3Bucket.swift",
        "Sources/Jobs/SQLiteDatabase/DatabaseCheck.swift",
        "Sources/Jobs/SQLiteDatabase/SQLiteStore.swift",
        "Sources/Jobs/AttachPrepJobs/Storage/DataFolder.swift",
        "Sources/Jobs/AttachPrepJobs/Webhooks/WebhookSecret.swift",
        "Sources/Service/AttachPrepService/Access/AccessTokens.swift",
        "Sources/Service/AttachPrepService/Access/LoopbackPolicy.swift",
        "Sources/Service/AttachPrepService/Configuration/ServeConfiguration.swift",
        "Sources/Service/AttachPrepService/Configuration/Setting.swift",
        "Sources/Service/AttachPrepService/Server/AttachmentServer.swift",
        "Sources/Service/AttachPrepService/Server/HTTPApplication.swift",
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
