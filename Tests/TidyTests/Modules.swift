/// The modules and their arrows, as ARCHITECTURE.md draws them: which module may import which.
enum Modules {
    /// The modules of this package that a module may depend on and import.
    static let arrows: [String: Set<String>] = [
        "SafeArithmetic": [],
        "Linux": ["SafeArithmetic", "CHost", "CLinux"],
        "MediaLibraries": [
            "SafeArithmetic", "Linux", "CMedia", "CHost", "CVips", "CLibAV", "CJPEG", "CSPNG", "CWebP", "CMagic",
            "CDeflate",
        ],
        "Zlib": ["SafeArithmetic", "CHost", "CZlib"],
        "Curl": ["SafeArithmetic", "Linux", "CHost", "CCurl"],
        "MediaTypes": ["SafeArithmetic"],
        "RichPush": ["SafeArithmetic", "MediaTypes"],
        "RichPushReceipts": ["RichPush"],
        "SealedMedia": ["SafeArithmetic", "MediaTypes", "RichPush"],
        "RichPushExtension": ["RichPush", "RichPushReceipts", "SealedMedia"],
        "AttachPrepModel": ["SafeArithmetic", "MediaTypes"],
        "PushPayload": ["SafeArithmetic", "MediaTypes", "RichPush", "AttachPrepModel"],
        "MediaEngine": ["SafeArithmetic", "MediaTypes", "AttachPrepModel"],
        "MediaProcessing": [
            "SafeArithmetic", "MediaTypes", "AttachPrepModel", "MediaEngine", "MediaLibraries", "Linux",
        ],
        "AttachPrepMedia": ["MediaProcessing"],
        "HostileMedia": ["MediaTypes", "AttachPrepModel", "MediaEngine", "MediaProcessing", "Linux"],
        "AttachPrep": [
            "SafeArithmetic", "MediaTypes", "RichPush", "SealedMedia", "AttachPrepModel", "PushPayload", "MediaEngine",
            "Curl", "Zlib", "Linux",
        ],
        "OTLP": ["SafeArithmetic", "MediaTypes", "AttachPrepModel", "AttachPrep"],
        "AttachPrepJobs": [
            "SafeArithmetic", "MediaTypes", "RichPush", "AttachPrepModel", "MediaEngine", "AttachPrep", "Linux",
        ],
        "SQLStore": [
            "SafeArithmetic", "MediaTypes", "RichPush", "AttachPrepModel", "MediaEngine", "AttachPrep",
            "AttachPrepJobs", "Linux",
        ],
        "PostgresDatabase": [
            "SafeArithmetic", "MediaTypes", "AttachPrepModel", "AttachPrep", "SQLStore", "Linux", "CHost", "CPostgres",
        ],
        "SQLiteDatabase": [
            "SafeArithmetic", "MediaTypes", "AttachPrepModel", "AttachPrep", "AttachPrepJobs", "SQLStore",
        ],
        "AttachPrepPages": ["MediaTypes", "AttachPrepModel", "CEmbedded"],
        "AttachPrepService": [
            "SafeArithmetic", "MediaTypes", "RichPush", "AttachPrepModel", "PushPayload", "MediaEngine", "AttachPrep",
            "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrepPages", "OTLP", "Linux",
        ],
        "AttachPrepCommand": [
            "SafeArithmetic", "MediaTypes", "RichPush", "AttachPrepModel", "PushPayload", "MediaEngine", "AttachPrep",
            "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrepPages", "AttachPrepService",
            "CBuild", "Linux",
        ],
        "RoundTrip": ["MediaEngine", "MediaProcessing", "AttachPrep"],
        "Shaping": ["MediaTypes", "AttachPrepModel"],
        "ShapingServer": ["Shaping"],
        "SampleClient": [],
        "QueueRate": [
            "MediaTypes", "AttachPrepModel", "AttachPrep", "AttachPrepJobs", "SQLStore", "SQLiteDatabase",
            "PostgresDatabase",
        ],
    ]

    /// The folders of `Sources`, in the order of their arrows.
    static let folders = ["Core", "Payloads", "Libraries", "Media", "Preparation", "Jobs", "Service", "Command"]

    /// The pairs of folders that still point both ways.
    static let folderCircles: Set<String> = [
        "AttachPrepJobs/Jobs <-> AttachPrepJobs/Storage",
        "AttachPrepJobs/Jobs <-> AttachPrepJobs/Webhooks",
        "AttachPrepJobs/Webhooks <-> AttachPrepJobs/Worker",
        "AttachPrepService/Access <-> AttachPrepService/Routes",
        "AttachPrepService/Metrics <-> AttachPrepService/Routes",
        "AttachPrepService/Routes <-> AttachPrepService/Server",
        "SQLStore/Jobs <-> SQLStore/Store",
        "SQLStore/Jobs <-> SQLStore/Webhooks",
        "SQLStore/Results <-> SQLStore/Store",
    ]

    /// The modules of the C libraries and the targets that declare them: module maps, no Swift.
    static let cModules: Set<String> = [
        "CVips", "CLibAV", "CJPEG", "CSPNG", "CWebP", "CMagic", "CZlib", "CDeflate", "CCurl",
        "CPostgres", "CLinux", "CBuild", "CEmbedded", "CMedia", "CHost",
    ]

    /// The folders of `MediaLibraries`, and the C module that each alone imports.
    static let wrappers = [
        "Vips": "CVips", "LibAV": "CLibAV", "JPEG": "CJPEG", "PNG": "CSPNG", "WebP": "CWebP", "Magic": "CMagic",
        "Deflate": "CDeflate",
    ]

    /// Modules of other packages, and the modules that may import them.
    static let dependencies: [String: Set<String>] = [
        "ArgumentParser": ["AttachPrepCommand"],
        "Crypto": [
            "SealedMedia", "AttachPrep", "AttachPrepJobs", "SQLStore", "AttachPrepPages", "AttachPrepService",
        ],
        "GRDB": ["SQLiteDatabase"],
        "HTTPTypes": ["AttachPrepService"],
        "Hummingbird": ["AttachPrepService"],
        "Logging": [
            "AttachPrep", "AttachPrepJobs", "SQLStore", "PostgresDatabase", "SQLiteDatabase", "OTLP",
            "AttachPrepService", "AttachPrepCommand", "QueueRate",
        ],
        "Metrics": ["AttachPrepJobs", "OTLP", "AttachPrepService"],
        "NIOCore": ["AttachPrepService", "Shaping", "ShapingServer"],
        "NIOHTTP1": ["AttachPrepService", "Shaping", "ShapingServer"],
        "NIOHTTPTypes": ["AttachPrepService"],
        "NIOHTTPTypesHTTP1": ["AttachPrepService"],
        "NIOPosix": ["AttachPrepService", "Shaping", "ShapingServer"],
        "ServiceLifecycle": ["AttachPrepService"],
        "Tracing": ["AttachPrep", "AttachPrepJobs", "OTLP", "AttachPrepService"],
        "UnixSignals": ["AttachPrepService"],
        "CYaml": ["AttachPrepService"],
        "Yams": ["AttachPrepService"],
    ]

    /// Modules that other platforms compile as well, with everything they may import.
    static let portable: [String: Set<String>] = [
        "RichPush": [
            "Foundation", "FoundationEssentials", "UserNotifications", "SafeArithmetic", "MediaTypes",
        ],
        "RichPushReceipts": ["Foundation", "FoundationNetworking", "RichPush"],
        "SealedMedia": ["Crypto", "CryptoKit", "Foundation", "RichPush", "SafeArithmetic"],
        "RichPushExtension": [
            "CryptoKit", "Foundation", "FoundationNetworking", "Network", "os", "UserNotifications", "RichPush",
            "RichPushReceipts", "SealedMedia",
        ],
        "MediaTypes": ["Foundation", "FoundationEssentials", "SafeArithmetic"],
        "SafeArithmetic": [],
    ]

    /// Modules that bypass the address policy, with what to use instead.
    static let banned = [
        "FoundationNetworking": "downloads go through Curl, where addresses are checked"
    ]
}
