import MediaEngine
import RichPush

/// What is known of an animation before it is written.
struct AnimationFacts {
    let width: Int
    let height: Int
    /// Milliseconds of each frame, as devices show it.
    let delays: [Int]
    let loopCount: Int

    /// From the file's structure; nothing is decoded.
    static func read(_ conversion: AttachmentConversion) throws -> AnimationFacts {
        let (source, deadline) = (conversion.source, conversion.clock.deadline)
        func window(_ noun: String) throws -> ByteWindow {
            try ByteWindow(descriptor: source, noun: noun, deadline: deadline)
        }
        let frames = try AnimationFrames.open(
            descriptor: source, format: conversion.request.format, deadline: deadline)
        let delays =
            switch conversion.request.format {
            case .webp: try WebPWalk.walk(window("WebP")).delaysMilliseconds
            case .png: try PNGChunkWalk.walk(window("PNG")).delaysMilliseconds
            case .avif: try AVIFSurvey(source, deadline: deadline).delaysMilliseconds
            default: try GIFWalk.walk(window("GIF")).delaysMilliseconds
            }
        return AnimationFacts(
            width: frames.width, height: frames.height, delays: delays.map(AnimationFrames.shown),
            loopCount: frames.loopCount)
    }
}
