import Foundation
import RichPush

#if canImport(os)
    import os
#endif

/// What became of files, for who looks at the device's log.
enum DeviceLog {
    #if canImport(os)
        private static let logger = Logger(subsystem: "attachprep", category: "notification")
    #endif

    /// Addresses are private: they may hold keys.
    static func note(_ refusal: FetchRefusal, _ candidate: FetchCandidate) {
        note(candidate, refusal.rawValue)
    }

    static func noteKept(_ candidate: FetchCandidate) {
        note(candidate, "kept")
    }

    private static func note(_ candidate: FetchCandidate, _ fact: String) {
        #if canImport(os)
            logger.notice("\(candidate.id, privacy: .public): \(fact, privacy: .public)")
        #else
            FileHandle.standardError.write(Data("\(candidate.id): \(fact)\n".utf8))
        #endif
    }
}
