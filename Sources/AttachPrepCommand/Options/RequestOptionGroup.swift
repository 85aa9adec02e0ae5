public import ArgumentParser
import AttachPrep
import MediaEngine
import RichPush

/// What is asked of each source: shared by `prepare`, `batch` and `inspect`.
struct RequestOptionGroup: ParsableArguments {
    @Option(help: "The part to show, in unit values of the upright picture, origin top-left.")
    var crop: CropArgument?

    @Option(help: "Which picture a thumbnail shows: seconds of a movie, frame number of an animation.")
    var thumbnailTime: Double?

    @Option(help: "The thumbnail's box in pixels.")
    var thumbnailSize = SizeArgument.standard

    @Option(help: "How the picture meets the box: contain or cover; nothing is enlarged.")
    var thumbnailFit = ThumbnailFit.contain

    @Flag(help: "Let the collapsed notification show no thumbnail.")
    var hideThumbnail = false

    @Option(help: "What to do with a file over the limit: shrink or reject.")
    var oversize = AttachmentRequest.Oversize.shrink

    @Option(help: "What to do with a type that iOS does not attach: convert or reject.")
    var unsupported = AttachmentRequest.Unsupported.convert

    @Option(help: "The time for one source, as in 30s or 500ms.")
    var budget = DurationArgument(seconds: Limits.budgetSeconds)

    @Option(help: ArgumentHelp("A limit below Apple's, in decimal bytes.", valueName: "n"))
    var maxBytes: Int?

    @Option(name: .customLong("header"), help: ArgumentHelp("Sent to the first origin only.", valueName: "Name: value"))
    var headers: [HeaderArgument] = []

    /// The request for a source.
    ///
    /// - Throws: `options.invalid_clipping_rect`; other options are checked when the request is begun.
    func request(for source: String) throws -> AttachmentRequest {
        var request = AttachmentRequest(source: source)
        request.options.crop = try crop?.clippingRect()
        request.options.thumbnailTime = thumbnailTime
        request.options.thumbnailHidden = hideThumbnail ? true : nil
        request.options.thumbnailWidth = thumbnailSize.width
        request.options.thumbnailHeight = thumbnailSize.height
        request.options.thumbnailFit = thumbnailFit
        request.oversize = oversize
        request.unsupported = unsupported
        request.budgetSeconds = budget.seconds
        request.bytesMax = maxBytes
        request.headers = Dictionary(headers.map { ($0.name, $0.value) }) { _, last in last }
        return request
    }
}

extension ThumbnailFit: ExpressibleByArgument {}
extension AttachmentRequest.Oversize: ExpressibleByArgument {}
extension AttachmentRequest.Unsupported: ExpressibleByArgument {}
