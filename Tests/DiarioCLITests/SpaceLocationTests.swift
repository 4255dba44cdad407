import DiarioCLI
import DiarioTestSupport
import Foundation
import Testing

@Suite struct SpaceLocationTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for path in ["space/.diario", "space/a/b", "none"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder.path)/\(path)",
                withIntermediateDirectories: true
            )
        }
    }

    private func find(
        chosen: String? = nil,
        environment: String? = nil,
        current: String? = nil,
        owners: Set<UInt32>? = nil
    ) throws -> String {
        try SpaceLocation(
            chosen: chosen,
            environment: environment,
            current: current,
            owners: owners
        ).find()
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    @Test func theNearestFolderUpwardsIsFound() throws {
        #expect(try find(current: path("space/a/b")) == path("space"))
        #expect(try find(current: path("space")) == path("space"))
    }

    @Test func namedFoldersComeFirstAndAreNotSearchedUpwards() throws {
        #expect(try find(chosen: path("space"), current: path("none")) == path("space"))
        #expect(try find(environment: path("space"), current: path("none")) == path("space"))
        #expect(throws: Failure.self) { try find(chosen: path("space/a"), current: path("space")) }
        #expect(throws: Failure.self) {
            try find(environment: path("none"), current: path("space"))
        }
        #expect(try find(chosen: path("space"), environment: path("none")) == path("space"))
        #expect(try find(environment: "", current: path("space")) == path("space"))
    }

    /// Root recorded in a folder that somebody else had made, without a word.
    @Test func theFolderOfAnotherUserIsRefused() throws {
        let user = geteuid()
        #expect(try find(chosen: path("space"), owners: [user]) == path("space"))
        for owners in [[], [user + 1]] as [Set<UInt32>] {
            #expect {
                try find(current: path("space/a"), owners: owners)
            } throws: { error in
                let message = (error as? Failure)?.message ?? ""
                return message.contains("belongs to another user (id \(user))")
                    && message.contains("diario --trust-owner COMMAND")
            }
        }
    }

    @Test func rootCountsAsTheUserWhoCalledIt() {
        #expect(SpaceLocation.owners(user: 0, caller: "1000") == [0, 1000])
        #expect(SpaceLocation.owners(user: 0, caller: nil) == [0])
        #expect(SpaceLocation.owners(user: 0, caller: "-1") == [0])
        #expect(SpaceLocation.owners(user: 7, caller: "1000") == [7])
    }

    @Test func whereNoSpaceIsTheMessageSaysHowToMakeOne() {
        #expect {
            try find(current: path("none"))
        } throws: { error in
            (error as? Failure)?.message?.contains("diario init DIR") == true
        }
        #expect {
            try find(chosen: path("missing"))
        } throws: { error in
            (error as? Failure)?.message?.contains("missing (from -C) is no folder") == true
        }
    }
}
