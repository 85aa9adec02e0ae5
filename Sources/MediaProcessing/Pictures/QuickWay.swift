import RichPush

/// A way to a picture that is quicker than libvips', and knows less.
enum QuickWay {
    /// Nil for a file that it cannot read, which says nothing of the file: libvips, which takes more, has the last
    /// word on it.
    ///
    /// - Throws: `deadline.exceeded`.
    static func attempt<Result>(_ body: () throws -> Result?) throws -> Result? {
        do {
            return try body()
        } catch let error as AttachPrepError where error.code == .deadlineExceeded {
            throw error
        } catch {
            return nil
        }
    }
}
