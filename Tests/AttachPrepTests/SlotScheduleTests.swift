import Testing

@testable import AttachPrep

struct SlotScheduleTests {
    @Test func `Renders take at most the media slots, a quick question the worker that is left`() {
        var schedule = SlotSchedule(mediaSlots: 2)
        #expect(schedule.enter(.init(number: 1, isRender: true)).map(\.waiter) == [1])
        #expect(schedule.enter(.init(number: 2, isRender: true)).map(\.waiter) == [2])
        #expect(schedule.enter(.init(number: 3, isRender: true)).isEmpty)
        #expect(schedule.enter(.init(number: 4, isRender: false)).map(\.waiter) == [4])
    }

    @Test func `A warm worker is taken before one that has no child yet`() throws {
        var schedule = SlotSchedule(mediaSlots: 2)
        let first = try #require(schedule.enter(.init(number: 1, isRender: false)).first)
        #expect(first.worker == 0)
        _ = schedule.release(worker: first.worker, isRender: false)
        #expect(schedule.enter(.init(number: 2, isRender: true)).first?.worker == 0)
    }

    @Test func `A freed worker goes to the quick question first, then to the oldest render`() throws {
        var schedule = SlotSchedule(mediaSlots: 1)
        let render = try #require(schedule.enter(.init(number: 1, isRender: true)).first)
        let quick = try #require(schedule.enter(.init(number: 2, isRender: false)).first)
        #expect(schedule.enter(.init(number: 3, isRender: true)).isEmpty)
        #expect(schedule.enter(.init(number: 4, isRender: false)).isEmpty)
        #expect(schedule.release(worker: render.worker, isRender: true).map(\.waiter) == [4])
        #expect(schedule.release(worker: quick.worker, isRender: false).map(\.waiter) == [3])
    }

    @Test func `Who leaves the line is not called`() throws {
        var schedule = SlotSchedule(mediaSlots: 1)
        let first = try #require(schedule.enter(.init(number: 1, isRender: true)).first)
        _ = schedule.enter(.init(number: 2, isRender: true))
        #expect(schedule.leave(2))
        #expect(!schedule.leave(2))
        #expect(schedule.release(worker: first.worker, isRender: true).isEmpty)
    }
}
