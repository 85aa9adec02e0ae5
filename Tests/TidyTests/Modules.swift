/// The modules and their arrows, as ARCHITECTURE.md draws them: which module may import which.
enum Modules {
    /// The modules of this package that a module may depend on and import.
    static let arrows: [String: Set<String>] = [
        "SafeArithmetic": [],
        "FileIO": [],
        "Vips": ["SafeArithmetic", "CVips"],
        "LibAV": ["SafeArithmetic", "FileIO", "CLibAV"],
        "JPEG": ["SafeArithmetic", "FileIO", "CJPEG"],
        "PNG": ["SafeArithmetic", "FileIO", "Deflate", "CSPNG"],
        "WebP": ["SafeArithmetic", "CWebP"],
        "Magic": ["CMagic"],
        "Zlib": ["SafeArithmetic", "CZlib"],
        "Deflate": ["SafeArithmetic", "CDeflate"],
        "Curl": ["SafeArithmetic", "FileIO", "Linux", "CCurl"],
        "Linux": ["SafeArithmetic", "FileIO", "CLinux"],
        "RichPush": ["SafeArithmetic"],
        "AttachPrepModel": ["SafeArithmetic", "RichPush"],
        "PushPayload": ["SafeArithmetic", "RichPush", "AttachPrepModel"],
        "MediaEngine": ["SafeArithmetic", "RichPush", "AttachPrepModel"],
        "MediaProcessing": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "MediaEngine", "Vips", "LibAV", "JPEG", "PNG", "WebP",
            "Magic", "FileIO", "Linux",
        ],
        "MediaProcessMain": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "MediaEngine", "MediaProcessing", "Linux",
        ],
        "AttachPrepMedia": ["MediaProcessMain"],
        "HostileMedia": ["RichPush", "AttachPrepModel", "MediaEngine", "MediaProcessMain", "Linux"],
        "AttachPrep": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "PushPayload", "MediaEngine", "Curl", "Zlib", "FileIO",
            "Linux",
        ],
        "OTLP": ["SafeArithmetic", "RichPush", "AttachPrepModel", "AttachPrep"],
        "AttachPrepJobs": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "MediaEngine", "AttachPrep", "FileIO", "Linux",
        ],
        "SQLStore": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "MediaEngine", "AttachPrep", "AttachPrepJobs", "FileIO",
            "Linux",
        ],
        "PostgresDatabase": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "AttachPrep", "SQLStore", "Linux", "CPostgres",
        ],
        "SQLiteDatabase": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "AttachPrep", "AttachPrepJobs", "SQLStore",
        ],
        "AttachPrepPages": ["RichPush", "AttachPrepModel", "CEmbedded"],
        "AttachPrepService": [
            "FileIO",
            "SafeArithmetic", "RichPush", "AttachPrepModel", "PushPayload", "MediaEngine", "AttachPrep",
            "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrepPages", "OTLP", "Linux",
        ],
        "AttachPrepCommand": [
            "SafeArithmetic", "RichPush", "AttachPrepModel", "PushPayload", "MediaEngine", "AttachPrep",
            "AttachPrepJobs", "SQLStore", "SQLiteDatabase", "PostgresDatabase", "AttachPrepPages", "AttachPrepService",
            "FileIO", "CBuild",
        ],
        "RoundTrip": ["MediaEngine", "MediaProcessing", "AttachPrep"],
        "Shaping": ["RichPush", "AttachPrepModel"],
        "ShapingServer": ["Shaping"],
        "SampleClient": [],
        "QueueRate": [
            "RichPush", "AttachPrepModel", "AttachPrep", "AttachPrepJobs", "SQLStore", "SQLiteDatabase",
            "PostgresDatabase",
        ],
    ]

    /// The folders of `Sources`, in the order of their arrows.
    static let folders = ["Core", "Payloads", "Libraries", "Media", "Preparation", "Jobs", "Service", "Command"]

    /// Modules that stand on a later folder, with what they import from it.
    static let folderExceptions: [String: Set<String>] = ["AttachPrepModel": ["RichPush"]]

    /// The modules of the C libraries: module maps, no Swift.
    static let cModules: Set<String> = [
        "CVips", "CLibAV", "CJPEG", "CSPNG", "CWebP", "CMagic", "CZlib", "CDeflate", "CCurl",
        "CPostgres", "CLinux", "CBuild", "CEmbedded",
    ]

    /// Modules of other packages, and the modules that may import them.
    static let dependencies: [String: Set<String>] = [
        "ArgumentParser": ["AttachPrepCommand"],
        "Crypto": [
            "AttachPrep", "AttachPrepJobs", "SQLStore", "AttachPrepPages", "AttachPrepService",
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
        "RichPush": ["Foundation", "FoundationEssentials", "UserNotifications", "SafeArithmetic"],
        "SafeArithmetic": [],
    ]

    /// Modules that bypass the address policy, with what to use instead.
    static let banned = [
        "FoundationNetworking": "downloads go through Curl, where addresses are checked"
    ]
}
