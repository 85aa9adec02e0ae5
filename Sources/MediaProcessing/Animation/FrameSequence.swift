/// The pictures of an animation, one after another, as a device would show them: composed, in sRGB.
///
/// Read once, from the first to the last; whoever needs a second pass opens it again.
package protocol FrameSequence: AnyObject {
    /// Pixels of every frame.
    var width: Int { get }
    var height: Int { get }
    /// How many frames `next` will give.
    var count: Int { get }
    /// How often it plays; 0 is for ever.
    var loopCount: Int { get }
    /// The next frame; nil after the last.
    func next() throws -> SequenceFrame?
}

/// One picture of an animation.
package struct SequenceFrame: Sendable {
    /// Red, green, blue, alpha (not premultiplied), 8 bits each, rows without padding.
    package var pixels: [UInt8]
    /// How long it is shown, as devices show it: what a file says with 10 ms or less is 100 ms.
    package var delayMilliseconds: Int

    package init(pixels: [UInt8], delayMilliseconds: Int) {
        self.pixels = pixels
        self.delayMilliseconds = delayMilliseconds
    }
}
