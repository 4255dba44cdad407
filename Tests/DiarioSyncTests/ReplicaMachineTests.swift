import DiarioCore
import DiarioSync
import Testing

/// What a replica does next: schema/format/sync.md, section 7.
@Suite struct ReplicaMachineTests {
    private static let now = Timestamp(milliseconds: 1_700_000_000_000)

    private static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(milliseconds: now.milliseconds + milliseconds)
    }

    @Test func aFailureIsWaitedOut() {
        var machine = ReplicaMachine(seed: 1)
        machine.failed("there is no network", at: Self.now)
        guard case .wait(let until) = machine.next(at: Self.now, unsent: 1) else {
            return #expect(Bool(false), "it does not wait")
        }
        let step = machine.next(at: until, unsent: 1)
        #expect(step == .pull)
    }

    /// A clock that was set back by a day made a replica wait for a day.
    @Test func aClockThatIsSetBackLengthensNoWait() {
        var machine = ReplicaMachine(seed: 1)
        machine.failed("there is no network", at: Self.now)
        let step = machine.next(at: Self.time(-86_400_000), unsent: 1)
        #expect(step == .pull)
    }
}
