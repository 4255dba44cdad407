import Diario
import DiarioCore
import DiarioHost
import DiarioLog
import DiarioProjection
import DiarioSQLite
import DiarioSchema
import DiarioTestSupport
import Testing

/// A log that version 3 of the pack fish wrote, read by the pack of today.
@Suite struct FishOldLogTests {
    private func rows(_ question: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let lines = try SchemaFolder.contents("vectors/fish-3.jsonl")
        let file = try SampleSpace.file(lines, in: folder)
        let fresh = try Space.create(at: folder.path + "/space", packs: PackSource.builtIn())
        let space = try fresh.importEvents(of: file, as: .lines) { _, _ in }.space
        let models = try ReadModels(space)
        try models.update()
        #expect(try models.quarantined().isEmpty)
        let answer = try models.ask(.sql(question, [:])).answer()
        var rows: [String] = []
        while let row = try answer.next() {
            rows.append(row.values.map { FishMergeTests.text($0) }.joined(separator: " "))
        }
        return rows
    }

    /// What was left open is unknown, and a coin is the reference.
    @Test func reportsAreReadWithWhatTheySay() throws {
        let found = try rows(
            """
            SELECT speciesId, status, sizeResult, isBorderline, minSizeKind, origin, production,
                applicability, method, referenceId, actor
            FROM fish.report ORDER BY observedOn, reportId
            """
        )
        #expect(
            found == [
                "sardina counted undersize 0 legal unknown unknown full pins2 eur2 user-17",
                "sgombro counted ok 0 unknown mediterranean wild_fresh full ruler - user-4",
                "sardina counted unknown 1 unknown other unknown size_only ruler - -",
                "costardella counted not_required 0 none mediterranean farmed informative ruler "
                    + "- -",
                "gambero_rosa counted ok 0 unknown unknown unknown full circle3 eur050 user-92",
                "seppia counted unknown 1 unknown unknown unknown full conic eur1 user-92",
                "nasello counted ok 0 unknown other unknown size_only ruler - user-17",
                "sogliola foreign ok 0 unknown unknown unknown full ruler - user-18",
                "seppia withdrawn below_recommended 0 recommended unknown unknown full ruler - "
                    + "user-17",
            ]
        )
    }

    /// Of 'borderline', the answer is known where the length is not below the minimum.
    @Test func verdictsKeepTheAnswersThatAreKnown() throws {
        let found = try rows(
            """
            SELECT lengthUm, minSizeUm, minSizeKind, sizeResult, isBorderline FROM fish.verdict
            ORDER BY lengthUm
            """
        )
        #expect(
            found == [
                "95400 - none not_required 0", "109600 110000 unknown unknown 1",
                "110400 110000 unknown ok 1", "129200 110000 unknown ok 0",
                "265000 200000 unknown ok 0",
            ]
        )
    }

    /// Photos are named by their events, and marks are on the one that was in use.
    @Test func marksAreOnThePhotoThatWasInUse() throws {
        let found = try rows(
            """
            SELECT p.widthPx, p.isDiscarded, count(m.target), sum(m.leftMpx)
            FROM fish.photo AS p LEFT JOIN fish.mark AS m USING (assessmentId, photoId)
            GROUP BY p.assessmentId, p.photoId ORDER BY p.widthPx, p.isDiscarded
            """
        )
        #expect(found == ["100 0 0 -", "200 0 1 -500", "3264 1 0 -", "4032 0 2 500", "4032 1 1 0"])
    }

    @Test func anotherSpellingIsOneOfSeveral() throws {
        let found = try rows(
            "SELECT aliases ->> 0 FROM fish.place WHERE aliases IS NOT NULL ORDER BY placeId"
        )
        #expect(
            found == ["Capalbio Scalo", "Fonte Blanda", #""La Torba" \ Torba"#, "Porto D'Ercole"]
        )
    }
}
