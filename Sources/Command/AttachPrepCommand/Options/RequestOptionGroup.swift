public import ArgumentParser
import AttachPrep
import MediaEngine
import MediaTypes

/// Options of a request, shared by `prepare`, `batch`, `payload` and `inspect`.
struct RequestOptionGroup: ParsableArguments {
    @Option(
        help: "Attachment to produce: original (changed as little as possible) or display (reduced to what iOS shows).")
    var rendition = RequestedRendition.original

    @Option(
        help: ArgumentHelp(
            "Part to show, in unit coordinates of the upright image (origin top left), or smart to detect it.",
            valueName: "X,Y,W,H|smart[:W:H]"))
    var crop: CropArgument?

    @Option(
        help: ArgumentHelp(
            "Frame for the thumbnail: seconds of a movie, frame number of an animation, or auto.",
            valueName: "time|frame|auto"))
    var thumbnailTime: ThumbnailTimeArgument?

    @Option(help: "Size of the thumbnail's box in pixels.")
    var thumbnailSize = SizeArgument.standard

    @Option(help: "How to fit the thumbnail into its box: contain or cover; images are never enlarged.")
    var thumbnailFit = ThumbnailFit.contain

    @Flag(help: "Hide the thumbnail in the collapsed notification.")
    var hideThumbnail = false

    @Option(help: "What to do with a file over the size limit: shrink or reject.")
    var oversize = AttachmentRequest.Oversize.shrink

    @Option(help: "What to do with a type that iOS does not attach: convert or reject.")
    var unsupported = AttachmentRequest.Unsupported.convert

    @Option(
        help: ArgumentHelp(
            "Types that the app can attach, such as mp3,mp4; a kind that is not listed is not restricted.",
            valueName: "types"))
    var attachmentTypes: AttachmentTypesArgument?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Systems that show the media: ios (always), iosSmall, android, web, webBadge, avatar, or a profile.",
            valueName: "targets"))
    var targets: TargetsArgument?

    @Option(
        help: ArgumentHelp(
            "Source of the sender's picture; without it, --for avatar makes it of the source.", valueName: "source"))
    var avatar: String?

    @Flag(help: "Encrypt the files for phones that receive the payload with their secret; for iOS alone.")
    var seal = false

    @Option(help: "Format for animated images: still, gif or mp4.")
    var animation = AnimationTarget.gif

    @Flag(help: "Re-encode movies with a rotation flag as upright movies.")
    var bakeRotation = false

    @Option(help: "Time limit for each source, such as 30s or 500ms.")
    var budget = DurationArgument(seconds: Limits.budgetSeconds)

    @Option(help: ArgumentHelp("Size limit of the attachment in bytes, below Apple's limit.", valueName: "n"))
    var maxBytes: Int?

    @Option(
        help: ArgumentHelp(
            "Limit the attachment to what a phone on this network can download: 3g, lte, wifi or kbit/s.",
            valueName: "network"))
    var network: NetworkArgument?

    @Option(
        help: ArgumentHelp(
            "Time for the download on that network (default: 30s, with --rendition display 8s).", valueName: "time"))
    var deviceBudget: DurationArgument?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "HTTP header for downloads, sent to the first origin only; repeatable.", valueName: "Name: value"))
    var headers: [HeaderArgument] = []

    /// The request for a source.
    ///
    /// - Throws: `options.invalid_clipping_rect`, `request.invalid` for a target; other options are validated when the
    ///   request is prepared.
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
        request.attachmentTypes = attachmentTypes?.types
        request.targets = try targets?.targets() ?? RequestTargets()
        request.avatar = avatar
        request.seal = seal
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
extension ResultLayout: ExpressibleByArgument {}
