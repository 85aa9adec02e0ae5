import MediaEngine
import RichPush

/// A movie's thumbnail that came along with its inspection, in a file without a name.
struct EarlyThumbnail: Sendable {
    private let render: EarlyRender
    private let file: OpenFile

    init(_ render: EarlyRender, in file: OpenFile) {
        self.render = render
        self.file = file
    }

    /// Whether it is what the plan asks for.
    func answers(_ wanted: RenderRequest?) -> Bool { wanted.map(render.answers) ?? false }

    /// Counts, hashes and seals it as if it had been rendered now.
    func renditions(in staging: StagingFolder, blocking: BlockingLane) async throws -> Renditions {
        try await blocking.run { [render, file] in
            try RenderStep.renditions(render.media, in: [.thumbnail: file.descriptor], staging)
        }
    }
}
