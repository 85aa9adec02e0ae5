import RichPush
import Testing

/// How long a device waits for one file.
struct FetchDeadlineTests {
    @Test func `It lies under what iOS and the SDKs allow`() {
        #expect(FetchDeadline().seconds < 25)
        #expect(FetchDeadline().thumbnailAfterSeconds < 7)
    }

    @Test func `A file has the time that is left, less what handing over takes`() {
        let deadline = FetchDeadline(seconds: 24)
        #expect(deadline.secondsLeft(after: 0) == 23.5)
        #expect(deadline.secondsLeft(after: 20) == 3.5)
    }

    @Test func `What cannot arrive any more is not begun`() {
        #expect(FetchDeadline(seconds: 24).secondsLeft(after: 22.6) == nil)
        #expect(FetchDeadline(seconds: 24).secondsLeft(after: 100) == nil)
        #expect(FetchDeadline(seconds: 0).secondsLeft(after: 0) == nil)
    }

    @Test func `In a short time the thumbnail has its half`() {
        #expect(FetchDeadline(seconds: 3).thumbnailAfterSeconds == 1.5)
        #expect(FetchDeadline(seconds: 8).thumbnailAfterSeconds == Limits.deviceThumbnailSeconds)
    }
}
