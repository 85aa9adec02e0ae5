public import ArgumentParser
import AttachPrep
import MediaEngine
import RichPush

/// What is asked of each source: shared by `prepare`, `batch` and `inspect`.
struct RequestOptionGroup: ParsableArguments {
    @Option(help: "What is delivered: original (as little change as the rules allow) or display (what a phone shows).")
    var rendition = RequestedRendition.original

    @Option(
        help: ArgumentHelp(
            "The part to show, in unit values of the upright picture, origin top-left; or the part worth seeing.",
            valueName: "X,Y,W,H|smart[:W:H]"))
    var crop: CropArgument?

    @Option(
        help: ArgumentHelp(
            "Which picture a thumbnail shows: seconds of a movie, frame number of an animation, or auto.",
            valueName: "time|frame|auto"))
    var thumbnailTime: ThumbnailTimeArgument?

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

    @Option(help: "What an animated image becomes: still, gif or mp4.")
    var animation = AnimationTarget.gif

    @Flag(help: "Encode a movie that is stored turned upright.")
    var bakeRotation = false

    @Option(help: "The time for one source, as in 30s or 500ms.")
    var budget = DurationArgument(seconds: Limits.budgetSeconds)

    @Option(help: ArgumentHelp("A limit below Apple's, in decimal bytes.", valueName: "n"))
    var maxBytes: Int?

    @Option(
        help: ArgumentHelp(
            "The phone's network: the attachment is made small enough for it (3g, lte, wifi, kbit/s).",
            valueName: "network"))
    var network: NetworkArgument?

    @Option(
        help: ArgumentHelp(
            "The time a phone on that network has to fetch it (default: 30s, for display 8s).", valueName: "time"))
    var deviceBudget: DurationArgument?

    @Option(name: .customLong("header"), help: ArgumentHelp("Sent to the first origin only.", valueName: "Name: value"))
    var headers: [HeaderArgument] = []

    /// The request for a source.
    ///
    /// - Throws: `options.invalid_clipping_rect`; other options are checked when the request is begun.
    func request(for source: String) throws -> AttachmentRequest {
        var request = AttachmentRequest(source: source)
        request.rendition = rendition
        request.options.crop = try crop?.choice()
        request.options.thumbnailTime = thumbnailTime?.choice
        request.options.animation = animation
        request.options.bakesRotation = bakeRotation
        request.network = network?.network
        request.deviceBudgetSeconds = deviceBudget?.seconds
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
extension RequestedRendition: ExpressibleByArgument {}
extension AnimationTarget: ExpressibleByArgument {}
extension AttachmentRequest.Oversize: ExpressibleByArgument {}
extension AttachmentRequest.Unsupported: ExpressibleByArgument {}
