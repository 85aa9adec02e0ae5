import Foundation
import RichPush

#if canImport(os)
    import os
#endif

/// Why something was not attached, for who looks at the device's log.
enum DeviceLog {
    #if canImport(os)
        private static let logger = Logger(subsystem: "attachprep", category: "notification")
    #endif

    /// Addresses are private: they may hold keys.
    static func note(_ refusal: FetchRefusal, _ candidate: FetchCandidate) {
        #if canImport(os)
            logger.notice("\(candidate.id, privacy: .public): \(refusal.rawValue, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("\(candidate.id): \(refusal.rawValue)\n".utf8))
        #endif
    }
}
