import RichPush

/// A job's end as the database takes it.
struct EndedJob: Sendable {
    let state: JobState
    let media: MediaID?
    let result: String?
    let error: String?
    let errorCode: String?

    init(_ ending: JobEnding) throws {
        switch ending {
        case .succeeded(let manifest, let media): try self.init(.succeeded, manifest, media)
        case .failed(let manifest): try self.init(.failed, manifest)
        case .dead(let manifest): try self.init(.dead, manifest)
        case .cancelled: try self.init(.cancelled, nil)
        }
    }

    private init(_ state: JobState, _ manifest: Manifest?, _ media: MediaID? = nil) throws {
        self.state = state
        self.media = media
        result = try manifest.map { try StoredJSON.text($0) }
        // What has succeeded has no error, whatever an attempt before it had.
        let failure = state == .succeeded ? nil : manifest?.error
        error = try failure.map { try StoredJSON.text($0) }
        errorCode = failure?.code.rawValue
    }
}
