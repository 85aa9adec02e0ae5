import Testing

@testable import AttachPrep

struct SlotScheduleTests {
    /// A reference to the schedule, since `#expect` cannot mutate a value.
    private final class ScheduleReference {
        private var schedule: SlotSchedule

        init(mediaSlots: Int) {
            schedule = SlotSchedule(mediaSlots: mediaSlots)
        }

        func enter(_ number: Int, isRender: Bool) -> [SlotSchedule.Grant] {
            schedule.enter(SlotSchedule.Waiter(number: number, isRender: isRender))
        }

        func acquireIfFree() -> Int? { schedule.acquireIfFree() }

        func leave(_ number: Int) -> Bool { schedule.leave(number) }

        func release(worker: Int, isRender: Bool, isWarm: Bool = true) -> [SlotSchedule.Grant] {
            schedule.release(worker: worker, isRender: isRender, isWarm: isWarm)
        }
    }

    @Test func `Renders take at most the media slots, leaving one worker for short calls`() {
        let schedule = ScheduleReference(mediaSlots: 2)
        #expect(schedule.enter(1, isRender: true).map(\.waiter) == [1])
        #expect(schedule.enter(2, isRender: true).map(\.waiter) == [2])
        #expect(schedule.enter(3, isRender: true).isEmpty)
        #expect(schedule.enter(4, isRender: false).map(\.waiter) == [4])
    }

    @Test func `A warm worker is taken first, then a starting one, then one without a process`() {
        let schedule = ScheduleReference(mediaSlots: 2)
        #expect([1, 2].flatMap { schedule.enter($0, isRender: false) }.map(\.worker) == [0, 1])
        _ = schedule.release(worker: 1, isRender: false)
        _ = schedule.release(worker: 0, isRender: false, isWarm: false)
        #expect([3, 4, 5].flatMap { schedule.enter($0, isRender: false) }.map(\.worker) == [1, 0, 2])
    }

    @Test func `A warm worker is taken before one without a process`() throws {
        let schedule = ScheduleReference(mediaSlots: 2)
        let first = try #require(schedule.enter(1, isRender: false).first)
        #expect(first.worker == 0)
        _ = schedule.release(worker: first.worker, isRender: false)
        #expect(schedule.enter(2, isRender: true).first?.worker == 0)
    }

    @Test func `A free worker goes to a waiting short call first, then to the oldest render`() throws {
        let schedule = ScheduleReference(mediaSlots: 1)
        let render = try #require(schedule.enter(1, isRender: true).first)
        let quick = try #require(schedule.enter(2, isRender: false).first)
        #expect(schedule.enter(3, isRender: true).isEmpty)
        #expect(schedule.enter(4, isRender: false).isEmpty)
        #expect(schedule.release(worker: render.worker, isRender: true).map(\.waiter) == [4])
        #expect(schedule.release(worker: quick.worker, isRender: false).map(\.waiter) == [3])
    }

    @Test func `Early work takes only a warm worker, and leaves one for short calls`() throws {
        let schedule = ScheduleReference(mediaSlots: 1)
        #expect(schedule.acquireIfFree() == nil)
        let first = try #require(schedule.enter(1, isRender: false).first)
        _ = schedule.release(worker: first.worker, isRender: false)
        #expect(schedule.acquireIfFree() == first.worker)
        #expect(schedule.acquireIfFree() == nil)
        #expect(schedule.enter(2, isRender: true).isEmpty)
        #expect(schedule.enter(3, isRender: false).map(\.waiter) == [3])
        #expect(schedule.release(worker: first.worker, isRender: true).map(\.waiter) == [2])
    }

    @Test func `A cancelled waiter is not granted a worker`() throws {
        let schedule = ScheduleReference(mediaSlots: 1)
        let first = try #require(schedule.enter(1, isRender: true).first)
        _ = schedule.enter(2, isRender: true)
        #expect(schedule.leave(2))
        #expect(!schedule.leave(2))
        #expect(schedule.release(worker: first.worker, isRender: true).isEmpty)
    }
}
