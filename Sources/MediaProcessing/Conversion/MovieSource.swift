import LibAV
import MediaEngine
import RichPush

/// The movie that is converted, to be opened as often as it is needed, and what one look at it found.
struct MovieSource {
    let descriptor: CInt
    let format: MediaFormat
    let scan: MovieScan
    let geometry: DisplayGeometry
    let deadline: ContinuousClock.Instant
    /// Whether nothing of it will be decoded: its codecs are known by the header alone.
    let isForCopy: Bool

    init(_ conversion: AttachmentConversion, isForCopy: Bool = false) throws {
        self.isForCopy = isForCopy
        descriptor = conversion.source
        format = conversion.request.format
        deadline = conversion.clock.deadline
        let movie = try OpenMovie.open(
            descriptor, format: format, isRecognized: true, isForCopy: isForCopy, deadline: deadline)
        scan = try MovieScan.read(movie, deadline: deadline)
        geometry = DisplayGeometry(scan.video)
    }

    /// The file from its beginning.
    func open() throws -> OpenMovie {
        try OpenMovie.open(
            descriptor, format: format, isRecognized: true, isForCopy: isForCopy, deadline: deadline)
    }

    /// Pixels as displayed; fractions where pixels are not square.
    var displayed: (width: Double, height: Double) {
        let width = Double(scan.video.width) * geometry.sampleAspectRatio
        let height = Double(scan.video.height)
        return geometry.orientation.swapsSides ? (height, width) : (width, height)
    }

    func shaper(like frame: Frame, shape: MovieShape) throws -> FrameShaper {
        try FrameShaper(
            like: frame, shape: shape, orientation: geometry.orientation, transfer: scan.video.transfer)
    }
}
