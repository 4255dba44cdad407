import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Testing

/// Frames with plain rows that follow each other are taken up at once when a log is opened.
@Suite struct StretchTests {
    /// A reader takes up many frames of others at once, and then those that follow.
    @Test func framesOfOthersAreTakenUpAtOnce() throws {
        let log = try TestLog()
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: true).space
        _ = try store.append(log.append(1, to: space))
        let reader = try log.open(process: 1, access: .readOnly)
        #expect(try log.numbers(space, in: reader) == [1])
        for count in [1, 40, 3] {
            for _ in 0..<count { _ = try store.append(log.append(1, to: space)) }
            #expect(try reader.refresh())
            let status = try store[space].status()
            #expect(try reader[space].status() == status)
            #expect(try log.numbers(space, in: reader) == Array(1...Int64(status.events)))
            #expect(reader.validate() == [])
        }
    }
}
