import DiarioSimulation
import DiarioStorage
import Testing

/// Operations cut at every single disk operation: at some here, at all by `diario-sim --crashes`,
/// which tools/check runs.
@Suite struct CrashScriptTests {
    private static let kinds = EventKinds()

    /// Of all places to cut, each run takes some, so that tests stay short.
    @Test(arguments: 0..<CrashScript.all.count, CrashScript.End.allCases)
    func whatWasAcknowledgedIsThereAfterACut(script: Int, end: CrashScript.End) throws {
        for (index, moment) in CrashDisk.CutMoment.allCases.enumerated() {
            let count = try CrashScript.all[script].run(
                moment,
                end,
                from: 1 + index,
                stride: 61,
                kinds: Self.kinds
            )
            #expect(count > 0)
        }
    }
}
