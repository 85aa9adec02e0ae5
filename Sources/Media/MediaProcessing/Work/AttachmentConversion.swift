import MediaEngine

/// The conversion of an attachment that is not a still image.
struct AttachmentConversion {
    let request: RenderRequest
    let source: CInt
    let output: OutputFile
    let clock: WorkClock
}
