import DiarioCore
import DiarioTestSupport
import Testing

@Suite struct LimitsTests {
    @Test(.waits) func theBoundsFitTogether() async {
        await #expect(processExitsWith: .success) { Limits.check() }
    }

    /// These are promised by the format and the protocol, so a change of them is no small matter.
    @Test func theBoundsOfTheFormatAreAsDesigned() {
        #expect(Limits.batchCountMax == 1000)
        #expect(Limits.batchSizeMax == 1_048_576)
        #expect(Limits.eventSizeMax == 65_536)
        #expect(Limits.blockCountMax == 65_536)
        #expect(Limits.logQuietSizeMax == 64 * 1_048_576)
        #expect(Limits.openFileCountMax == 256)
        #expect(Limits.lockWaitSecondsMax == 10)
        #expect(Limits.clockLeadMillisecondsMax == 300_000)
        #expect(Limits.saltGroupCount == 1024)
    }
}
