import DiarioCore
import DiarioFormat
import DiarioSchema
import Testing

/// What a reader learns of a segment before it reads blocks, and how few of them it reads.
@Suite struct ColumnsIndexTests {
    @Test(arguments: UInt64(0)..<6) func theIndexTellsWhatIsInside(seed: UInt64) throws {
        let sample = try ColumnsSample(seed: seed, count: 120)
        let reader = try sample.seal().reader()
        let index = reader.index
        for (type, found) in sample.types.map({ type in
            (type, index.typeIndex(type.nameBytes, version: type.version))
        }) {
            let place = try #require(sample.types.firstIndex { $0 === type })
            let count = sample.rows.count { $0.type == place }
            #expect(found.map { index.types[$0].eventCount } ?? 0 == count)
        }
        for row in sample.rows {
            let run = index.find(Origin(replica: row.replica, sequence: row.sequence))
            #expect(run?.isRefused == false)
        }
        let missing = Origin(replica: sample.rows[0].replica, sequence: 1 << 50)
        #expect(index.find(missing) == nil)
        #expect(index.acceptedAt?.lowerBound == sample.rows.first?.acceptedAt?.milliseconds)
        #expect(index.acceptedAt?.upperBound == sample.rows.last?.acceptedAt?.milliseconds)
        #expect(reader.blocksRead == 0)
    }

    @Test func refusedSequencesAreTold() throws {
        let sample = try ColumnsSample(seed: 3, count: 10)
        var builder = try builder(sample)
        let other = try Fixtures.replica(99)
        builder.refuse(other, 5...9)
        var plan = SegmentPlan()
        let sealed = try builder.finish(&plan)
        let index = try sealed.reader().index
        let run = SegmentRun(first: 5, last: 9, isRefused: true)
        #expect(index.find(Origin(replica: other, sequence: 7)) == run)
        #expect(try sealed.rows(sample.types) == sample.rows)
    }

    /// Two batches in a row that were refused were listed as two runs that meet, which no reader
    /// takes: the space could not be read where they were sealed.
    @Test func refusedBatchesThatFollowOneAnotherAreOneRun() throws {
        let sample = try ColumnsSample(seed: 3, count: 10)
        var builder = try builder(sample)
        let other = try Fixtures.replica(99)
        builder.refuse(other, 5...9)
        builder.refuse(other, 10...10)
        builder.refuse(other, 12...13)
        var plan = SegmentPlan()
        let sealed = try builder.finish(&plan)
        let index = try sealed.reader().index
        let runs = index.replicas.first { $0.replica == other }?.runs
        #expect(
            runs == [
                SegmentRun(first: 5, last: 10, isRefused: true),
                SegmentRun(first: 12, last: 13, isRefused: true),
            ]
        )
        #expect(try sealed.rows(sample.types) == sample.rows)
    }

    /// A segment with all rows of a sample, not finished yet.
    private func builder(_ sample: ColumnsSample) throws -> SegmentBuilder {
        var builder = SegmentBuilder(firstPosition: sample.firstPosition)
        for row in sample.rows {
            var bytes = row.publicPart + (row.personalPart ?? [])
            bytes.append(0)
            let size = row.publicPart.count
            let personal = row.personalPart.map { size..<size + $0.count }
            try builder.append(
                SegmentEvent(
                    replica: row.replica,
                    sequence: row.sequence,
                    acceptedAt: row.acceptedAt,
                    isAuthority: row.isAuthority,
                    publicPart: 0..<size,
                    personal: personal.map { .present($0) } ?? .absent
                ),
                of: bytes.span,
                type: sample.types[row.type]
            )
        }
        return builder
    }

    /// Section 9: no subject is missed, and hardly any other is taken for one.
    @Test func filtersKnowTheSubjects() throws {
        let sample = try ColumnsSample(seed: 5, count: 700)
        var reader = try sample.seal().reader()
        var known: Set<[UInt8]> = []
        for block in reader.index.fieldBlocks(ofType: 0) {
            for column in try reader.fields(inBlock: block).columns {
                guard case .texts(let texts) = column.values else { continue }
                for place in 0..<texts.count {
                    let text = Array(texts.strings.bytes[texts.range(place)])
                    known.insert(text)
                }
            }
        }
        let type = try reader.eventType(0)
        try #require(type.subjectFieldIndex != nil && known.count > 50)
        for subject in known {
            let isKnown = try reader.mayContain(subject.span, type: 0)
            #expect(isKnown)
        }
        var random = SeededRandom(seed: 1)
        let digits = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
        var takenCount = 0
        for _ in 0..<300 {
            let other = (0..<26).map { digits[random.below($0 == 0 ? 8 : 32)] }
            if try reader.mayContain(other.span, type: 0) { takenCount += 1 }
        }
        // One in 16 is taken for a subject.
        #expect(takenCount < 40)
    }

    @Test func aTypeCostsItsOwnBlocksOnly() throws {
        let sample = try ColumnsSample(seed: 9, count: 400)
        let known = Dictionary(
            uniqueKeysWithValues: sample.types.map { type in
                let fingerprint = Fingerprint.schema(type)
                let entry = TypeEntry(
                    name: type.nameBytes,
                    version: type.version,
                    fingerprint: fingerprint
                )
                return (entry, type)
            }
        )
        var reader = try sample.seal().reader(known: known)
        let blockCount = reader.index.blocks.count
        let block = try #require(reader.index.fieldBlocks(ofType: 0).first)
        let poolCount = reader.index.blocks.count { $0.kind == SegmentBlockKind.pool.rawValue }
        _ = try reader.fields(inBlock: block)
        // Its fields, pools, schemas, types and origins.
        #expect(reader.blocksRead <= 4 + poolCount)
        #expect(reader.blocksRead < blockCount)
    }

    /// Two segments of half the events and one of all of them have the same rows.
    @Test func mergingKeepsTheRows() throws {
        let sample = try ColumnsSample(seed: 11, count: 200)
        var halves = [sample, sample]
        halves[0].rows.removeLast(100)
        halves[1].rows.removeFirst(100)
        halves[1].firstPosition = sample.firstPosition.map { $0 + 100 }
        halves[1].saltNodes = []
        var builder = SegmentBuilder(firstPosition: sample.firstPosition)
        for half in halves {
            var rows = try SegmentRows(try half.seal().reader())
            let types = try rows.reader.eventTypes()
            while let row = try rows.next() {
                try builder.append(row.event, of: rows.bytes.span, type: types[row.typeIndex])
            }
            for node in try rows.reader.saltNodes() { builder.append(node) }
        }
        var plan = SegmentPlan()
        let merged = try builder.finish(&plan)
        #expect(try merged.rows(sample.types) == sample.rows)
    }
}
