/// The rooms and their arrows, as ARCHITECTURE.md draws them: which module may see which.
enum Rooms {
    /// What a room may depend on and import among ours.
    static let arrows: [String: Set<String>] = [
        "SafeArithmetic": [],
        "Vips": ["SafeArithmetic", "CVips"],
        "LibAV": ["SafeArithmetic", "CLibAV"],
        "JPEG": ["SafeArithmetic", "CJPEG"],
        "PNG": ["SafeArithmetic", "CSPNG"],
        "WebP": ["SafeArithmetic", "CWebP"],
        "Magic": ["CMagic"],
        "Zlib": ["SafeArithmetic", "CZlib"],
        "Curl": ["SafeArithmetic", "CCurl"],
        "NATS": ["SafeArithmetic", "CNATS"],
        "Linux": ["SafeArithmetic", "CLinux"],
        "RichPush": ["SafeArithmetic"],
        "MediaEngine": ["SafeArithmetic", "RichPush"],
        "MediaProcessing": [
            "SafeArithmetic", "RichPush", "MediaEngine", "Vips", "LibAV", "JPEG", "PNG", "WebP", "Magic", "Linux",
        ],
        "MediaChild": ["SafeArithmetic", "RichPush", "MediaEngine", "MediaProcessing", "Linux"],
        "AttachPrepMedia": ["MediaChild"],
        "HostileMedia": ["RichPush", "MediaEngine", "MediaChild", "Linux"],
        "AttachPrep": ["SafeArithmetic", "RichPush", "MediaEngine", "Curl", "Zlib", "Linux"],
        "AttachPrepJobs": ["SafeArithmetic", "RichPush", "MediaEngine", "AttachPrep", "Linux", "NATS"],
        "AttachPrepPages": ["RichPush"],
        "AttachPrepService": [
            "SafeArithmetic", "RichPush", "MediaEngine", "AttachPrep", "AttachPrepJobs", "AttachPrepPages", "Linux",
        ],
        "AttachPrepCommand": [
            "SafeArithmetic",
            "RichPush", "MediaEngine", "AttachPrep", "AttachPrepJobs", "AttachPrepPages", "AttachPrepService",
        ],
        "RoundTrip": ["MediaEngine", "MediaProcessing", "AttachPrep"],
        "Shaping": ["RichPush"],
        "ShapingServer": ["Shaping"],
        "SampleClient": [],
        "QueueRate": ["RichPush", "AttachPrep", "AttachPrepJobs", "NATS"],
    ]

    /// The C libraries' own rooms: module maps, no Swift.
    static let cRooms: Set<String> = [
        "CVips", "CLibAV", "CJPEG", "CSPNG", "CWebP", "CMagic", "CZlib", "CCurl", "CNATS", "CLinux",
    ]

    /// Modules of other packages, and the rooms that may import them.
    static let guests: [String: Set<String>] = [
        "ArgumentParser": ["AttachPrepCommand"],
        "Configuration": ["AttachPrepService", "AttachPrepCommand"],
        "Crypto": ["AttachPrep", "AttachPrepJobs", "AttachPrepPages", "AttachPrepService"],
        "GRDB": ["AttachPrepJobs"],
        "HTTPTypes": ["AttachPrepService"],
        "Hummingbird": ["AttachPrepService"],
        "Logging": ["AttachPrep", "AttachPrepJobs", "AttachPrepService", "AttachPrepCommand"],
        "Metrics": ["AttachPrepJobs", "AttachPrepService"],
        "NIOCore": ["AttachPrepService", "Shaping", "ShapingServer"],
        "NIOHTTP1": ["AttachPrepService", "Shaping", "ShapingServer"],
        "NIOHTTPTypes": ["AttachPrepService"],
        "NIOHTTPTypesHTTP1": ["AttachPrepService"],
        "NIOPosix": ["AttachPrepService", "Shaping", "ShapingServer"],
        "ServiceLifecycle": ["AttachPrepService"],
        "UnixSignals": ["AttachPrepService"],
    ]

    /// Rooms that other platforms compile as well: nothing but these.
    static let portable: [String: Set<String>] = [
        "RichPush": ["Foundation", "FoundationEssentials", "UserNotifications", "SafeArithmetic"],
        "SafeArithmetic": [],
    ]

    /// Modules that lead past our walls, and what to use instead.
    static let banned = [
        "FoundationNetworking": "downloads go through Curl, where addresses are checked"
    ]
}
