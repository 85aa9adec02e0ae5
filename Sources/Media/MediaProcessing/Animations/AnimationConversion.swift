import AttachPrepModel
import MediaEngine
import MediaTypes
import SafeArithmetic

/// Converts an animation to a GIF that fits its limits.
struct AnimationConversion {
    private let conversion: AttachmentConversion
    private let rendition: AnimationRendition
    /// Bytes copied at a time.
    private static let pieceBytes = 65_536

    init(_ conversion: AttachmentConversion, _ rendition: AnimationRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    private var clock: WorkClock { conversion.clock }

    func run() throws -> RenderedMedia {
        let facts = try AnimationFacts.read(conversion)
        if rendition.completesGIF { return try completed(facts) }
        WorkReporter.encode()
        let baseScale = rendition.longSideMax.map { min(1, Double($0) / Double(max(facts.width, facts.height))) } ?? 1
        var hasSoftAlpha = false
        let search = AnimationSearch(
            facts: facts, bytesMax: rendition.bytesMax, baseScale: baseScale, clock: clock,
            open: {
                let frames = try AnimationDecoders.open(
                    descriptor: conversion.source, format: conversion.request.format, deadline: clock.deadline)
                // A GIF has no partly transparent pixels.
                if conversion.request.format == .gif { return frames }
                return SoftAlphaObserver(frames) { hasSoftAlpha = true }
            })
        let found = try search.run()
        try conversion.output.write(found.bytes)
        var rendered = self.rendered(found, facts: facts, isResized: baseScale < 1)
        if hasSoftAlpha {
            rendered.warnings.append(
                PreparationWarning(
                    .transparencyLost,
                    "Shadows and other partly transparent parts of the animation became opaque or "
                        + "transparent, because a GIF has no others."))
        }
        return rendered
    }

    /// Copies a GIF and adds the trailer that it lacks.
    private func completed(_ facts: AnimationFacts) throws -> RenderedMedia {
        let window = try ByteWindow(descriptor: conversion.source, noun: "GIF", deadline: clock.deadline)
        var offset = 0
        while offset < window.size {
            let piece = Array(try window.bytes(at: offset, count: Self.pieceBytes))
            try conversion.output.write(piece, at: offset)
            offset += piece.count
        }
        try conversion.output.write([GIFParser.trailer], at: offset)
        var rendered = RenderedMedia()
        var attachment = RenderedAttachment(type: .gif, bytes: offset + 1)
        (attachment.width, attachment.height) = (facts.width, facts.height)
        attachment.frames = facts.delays.count
        if facts.delays.count > 1 { attachment.duration = facts.delays.reduce(0.0) { $0 + Double($1) / 1000 } }
        rendered.attachment = attachment
        if case .animationFrame(let number) = conversion.request.frameSelection {
            rendered.attachmentPosition = .frame(number)
            rendered.sourcePosition = .frame(number)
        }
        return rendered
    }

    private func rendered(_ found: AnimationSearch.Found, facts: AnimationFacts, isResized: Bool) -> RenderedMedia {
        var rendered = RenderedMedia()
        var attachment = RenderedAttachment(type: .gif, bytes: found.bytes.count)
        (attachment.width, attachment.height) = (found.width, found.height)
        attachment.frames = found.entries.count
        attachment.duration = found.entries.reduce(0.0) { $0 + Double($1.hundredths) / 100 }
        rendered.attachment = attachment
        if case .animationFrame(let number) = conversion.request.frameSelection {
            let position = (found.entries.firstIndex { $0.frame > number } ?? found.entries.count) - 1
            rendered.attachmentPosition = .frame(max(0, position))
            rendered.sourcePosition = .frame(number)
        }
        let report = AnimationReport(found, facts, bytesMax: rendition.bytesMax)
        rendered.reductions = report.reductions
        rendered.warnings = report.warnings
        rendered.isDegraded = found.isTimeLimited
        return rendered
    }
}

/// Reports an animation with partly transparent pixels beyond those of smooth edges, which a GIF cannot store.
private final class SoftAlphaObserver: AnimationDecoder {
    /// Share of a frame's pixels: smooth edges of a sticker have one or two percent.
    private static let shareMin = 0.03
    /// Alpha values that are neither nearly transparent nor nearly opaque.
    private static let soft: ClosedRange<UInt8> = 24...231

    private let base: any AnimationDecoder
    private var report: (() -> Void)?

    init(_ base: any AnimationDecoder, report: @escaping () -> Void) { (self.base, self.report) = (base, report) }

    var width: Int { base.width }
    var height: Int { base.height }
    var count: Int { base.count }
    var loopCount: Int { base.loopCount }

    func next() throws -> AnimationFrame? {
        let frame = try base.next()
        if let pixels = frame?.pixels, report != nil {
            let count = stride(from: 3, to: pixels.count, by: 4).count { Self.soft.contains(pixels[$0]) }
            if Double(count) >= Double(pixels.count / 4) * Self.shareMin {
                report?()
                report = nil
            }
        }
        return frame
    }
}

/// Size, delays and loop count of an animation.
struct AnimationFacts {
    let width: Int
    let height: Int
    /// Delays of the frames in milliseconds, as devices show them.
    let delays: [Int]
    let loopCount: Int

    /// Reads the file's structure without decoding.
    static func read(_ conversion: AttachmentConversion) throws -> AnimationFacts {
        let (source, deadline) = (conversion.source, conversion.clock.deadline)
        let format = conversion.request.format
        let frames = try AnimationDecoders.open(descriptor: source, format: format, deadline: deadline)
        let delays = try format.imageFormat?.frameDelays(source, deadline: deadline) ?? []
        return AnimationFacts(
            width: frames.width, height: frames.height, delays: delays.map(AnimationDecoders.shown),
            loopCount: frames.loopCount)
    }
}

/// The manifest's reductions and warnings for a converted animation.
struct AnimationReport {
    private(set) var reductions: [String] = []
    private(set) var warnings: [PreparationWarning] = []

    init(_ found: AnimationSearch.Found, _ facts: AnimationFacts, bytesMax: Int) {
        let step = found.step
        // Lack of time reduces the same things: then many of the bytes are left.
        let isByTime = found.isTimeLimited && found.bytes.count < bytesMax / 2
        let goal = isByTime ? "because time ran short" : "to fit \(bytesMax) bytes"
        let (frames, all) = (found.entries.count, facts.delays.count)
        if step.tolerance > 0 {
            let most = Int(clamping: step.tolerance.rounded(.up))
            reductions.append("pixel values may differ by up to \(most) of 255 \(goal)")
        }
        if step.colors < 256 { reductions.append("palettes were reduced to \(step.colors) colors \(goal)") }
        if step.rate != .all { reductions.append("\(all - frames) of \(all) frames were dropped \(goal)") }
        if step.scale < 1 {
            reductions.append("the animation was reduced to \(found.width) x \(found.height) pixels \(goal)")
        }
        if found.entries.count < facts.delays.count {
            warnings.append(
                PreparationWarning(
                    .framesDropped, "\(found.entries.count) of \(facts.delays.count) frames were kept."))
        }
        if found.isTimeLimited {
            warnings.append(
                PreparationWarning(
                    .deadlineDegraded,
                    "Frames of the animation were dropped because time ran short; allow a larger budget."))
        }
    }
}
