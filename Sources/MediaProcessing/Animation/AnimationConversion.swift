import MediaEngine
import RichPush

/// Writes an animation as GIF.
struct AnimationConversion {
    private let conversion: AttachmentConversion
    private let rendition: AnimationRendition

    init(_ conversion: AttachmentConversion, _ rendition: AnimationRendition) {
        self.conversion = conversion
        self.rendition = rendition
    }

    private var clock: WorkClock { conversion.clock }

    func run() throws -> RenderedMedia {
        let facts = try AnimationFacts.read(conversion)
        let baseScale = rendition.longSideMax.map { min(1, Double($0) / Double(max(facts.width, facts.height))) } ?? 1
        let search = AnimationSearch(
            facts: facts, bytesMax: rendition.bytesMax, baseScale: baseScale, clock: clock,
            open: {
                try AnimationFrames.open(
                    descriptor: conversion.source, format: conversion.request.format, deadline: clock.deadline)
            })
        let found = try search.run()
        try conversion.output.write(found.bytes)
        return rendered(found, facts, isResized: baseScale < 1)
    }

    private func rendered(_ found: AnimationSearch.Found, _ facts: AnimationFacts, isResized: Bool) -> RenderedMedia {
        var rendered = RenderedMedia()
        var attachment = RenderedAttachment(type: .gif, bytes: found.bytes.count)
        (attachment.width, attachment.height) = (found.width, found.height)
        attachment.frames = found.entries.count
        attachment.duration = found.entries.reduce(0.0) { $0 + Double($1.hundredths) / 100 }
        rendered.attachment = attachment
        if case .animationFrame(let number) = conversion.request.picture {
            // Bounded: a list.
            let position = (found.entries.firstIndex { $0.frame > number } ?? found.entries.count) - 1
            rendered.attachmentPosition = .frame(max(0, position))
            rendered.sourcePosition = .frame(number)
        }
        let words = AnimationWords(found, facts, bytesMax: rendition.bytesMax)
        rendered.concessions = words.concessions
        rendered.warnings = words.warnings
        rendered.isDegraded = found.isHurried
        return rendered
    }
}
