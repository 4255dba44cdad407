import Diario
import DiarioCore
import DiarioFormat
import DiarioLog
import DiarioTestSupport
import Testing

/// Proofs as whoever has a space gets them, with what is said when there is none.
@Suite struct SpaceProofTests {
    @Test func everyEventIsProvenWithItsRow() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/diary")
        let root = try space.stats().root
        let head = try space.stats().state.head
        var commitmentCount = 0
        for position in 1...head {
            let proof = try space.proveInclusion(of: position, includesEvent: true)
            try proof.check()
            #expect(proof.root == root)
            #expect(proof.size == head)
            guard case .inclusion(_, _, let event) = proof.claim else {
                Issue.record("another claim")
                continue
            }
            let row = try #require(event?.row)
            commitmentCount += row.commitment == nil ? 0 : 1
            let origin = row.part.envelope.origin
            #expect(try space.position(of: .origin(origin)) == position)
            var bytes: [UInt8] = []
            proof.append(to: &bytes, isIndented: position % 2 == 0)
            #expect(try ProofText(bytes) == proof)
        }
        #expect(commitmentCount > 0, "no example has a personal field")
        let growth = try space.proveConsistency(from: 3)
        try growth.check()
        #expect(growth.root == root)
    }

    @Test func whatCannotBeProvenIsSaid() throws {
        let folder = try TemporaryFolder()
        let space = try SampleSpace.make(folder.path + "/diary")
        let head = try space.stats().state.head
        func message(_ body: () throws(DiarioError) -> ProofText) -> String? {
            do throws(DiarioError) {
                _ = try body()
                return nil
            } catch {
                #expect(error.kind == .notFound)
                return error.message
            }
        }
        let beyond = message { () throws(DiarioError) in try space.proveInclusion(of: head + 1) }
        #expect(beyond?.contains("the log has \(head)") == true)
        let outside = message { () throws(DiarioError) in
            try space.proveInclusion(of: 5, size: 4)
        }
        #expect(outside?.contains("not among the first 4") == true)
        let larger = message { () throws(DiarioError) in
            try space.proveInclusion(of: 5, size: head + 1)
        }
        #expect(larger?.contains("only \(head) events") == true)
        let swapped = message { () throws(DiarioError) in
            try space.proveConsistency(from: 5, to: 4)
        }
        #expect(swapped?.contains("does not begin with 5") == true)
        let replica = try #require(ReplicaID(rawValue: 1))
        #expect(throws: DiarioError.self) {
            try space.position(of: .origin(Origin(replica: replica, sequence: 1)))
        }
    }
}
