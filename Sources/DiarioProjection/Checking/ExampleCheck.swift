import DiarioCore
package import DiarioSchema

/// Lets the read models of a pack take its examples, on a database in memory.
///
/// Statements that SQLite accepts may still fail for every event, as where a text meets a column of
/// integers; only an event shows that.
package enum ExampleCheck {
    /// Upcasts that are missing, or that make of an example what the newer schema refuses, read
    /// models that take no example of a type, though there are some, and indexes that are not as
    /// they were once an example is taken back.
    ///
    /// The pack and its examples must have no other problem.
    package static func problems(of pack: Pack) -> [PackProblem] {
        guard !pack.sql.readModels.isEmpty || !pack.sql.upcasts.isEmpty,
            let catalog = try? TypeCatalog(pack.types),
            let space = SpaceID(rawValue: 1)
        else { return [] }
        do throws(ProjectionError) {
            let file = try ModelFile(
                path: ":memory:",
                plan: PackPlan(pack),
                space: space,
                .building
            )
            var run = Run(file)
            let undoFile = try ModelFile(
                path: ":memory:",
                plan: PackPlan(pack),
                space: space,
                .building
            )
            var undo = try UndoCheck(undoFile)
            for example in pack.files where example.path.hasPrefix("examples/") {
                run.take(example, catalog) { undo.take($0, at: $1) }
                guard !run.isOver else { break }
            }
            let problems = missingUpcasts(of: pack, file.plan) + (try run.problems())
            // What no read model takes is not taken back either.
            return problems.isEmpty ? undo.problems : problems
        } catch {
            return [
                PackProblem(file: "pack.json", line: nil, rule: "sql", message: error.message)
            ]
        }
    }

    /// Versions of a type from which no way leads to the one that read models take.
    private static func missingUpcasts(of pack: Pack, _ plan: PackPlan) -> [PackProblem] {
        var found: [PackProblem] = []
        var known: Set<String> = []
        for (name, type) in plan.models.flatMap(\.types) where known.insert(name).inserted {
            for old in pack.types where old.name == name && old.version < type.type.version {
                guard type.upcasts[old.version] == nil else { continue }
                let short = name.dropFirst(pack.name.utf8.count + 1)
                let versions = pack.types.lazy.filter { $0.name == name }.map(\.version)
                let next = versions.filter { $0 > old.version }.min() ?? type.type.version
                found.append(
                    PackProblem(
                        file: "events/\(short).\(old.version).json",
                        line: 1,
                        rule: "upcast-missing",
                        message: "no read model can take events of version \(old.version) of "
                            + "\(name); say how they are read in "
                            + "events/\(short).\(old.version)-\(next).sql"
                    )
                )
            }
        }
        return found.sorted { $0.file < $1.file }
    }

    /// The examples as one replica would record them, one after the other.
    private struct Run {
        private let file: ModelFile
        private var sequence: UInt64 = 0
        /// The origins of the batch that is being read.
        private var batch: (name: [UInt8]?, origins: [Origin]) = (nil, [])
        /// For each read model and type how many examples it took, and was to take.
        private var counts: [Pair: (taken: Int, all: Int)] = [:]
        /// Where the first example of a type is.
        private var places: [String: (file: String, line: Int)] = [:]
        private var found: [PackProblem] = []

        private struct Pair: Hashable {
            let model: Int
            let type: String
        }

        /// 2025-10-09, a second for each event: any time would do.
        private static let start: Int64 = 1_760_000_000_000

        init(_ file: ModelFile) { self.file = file }

        mutating func take(
            _ example: PackFile,
            _ catalog: TypeCatalog,
            _ visit: (EventLine, (file: String, line: Int)) -> Void
        ) {
            var reader = EventLineReader(catalog: catalog, options: .batchReferences)
            var line = EventLine()
            let lines = example.bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
            for (index, text) in lines.enumerated() where !text.isEmpty {
                guard (try? reader.read(text.span, into: &line)) != nil else { continue }
                complete(&line)
                if places[line.type.name] == nil {
                    places[line.type.name] = (example.path, index + 1)
                }
                upcast(line, at: (example.path, index + 1))
                apply(line)
                guard !isOver else { break }
                visit(line, (example.path, index + 1))
            }
        }

        /// Whether all examples together take longer than they may.
        var isOver: Bool { file.stepLimit.total > Limits.sqlExampleStepCountMax }

        /// Reads an example of an older version as one of the newest, whoever listens to it.
        private mutating func upcast(_ line: EventLine, at place: (file: String, line: Int)) {
            guard let plan = ModelPlan.TypePlan(readingOnly: line.type.name, of: file.plan.pack),
                plan.upcasts[line.type.version] != nil
            else { return }
            do throws(EventFault) { _ = try file.upcast(line, plan) } catch {
                found.append(
                    PackProblem(
                        file: place.file,
                        line: place.line,
                        rule: "upcast-example",
                        message: error.reason.message
                    )
                )
            }
        }

        /// Gives the line what recording would give it.
        private mutating func complete(_ line: inout EventLine) {
            guard let replica = ReplicaID(rawValue: 1) else { return }
            sequence += 1
            let origin = Origin(replica: replica, sequence: sequence)
            let name = line.batch.map { Array(line.arena[$0]) }
            if name == nil || name != batch.name { batch = (name, []) }
            batch.origins.append(origin)
            let time = Timestamp(milliseconds: Self.start + Int64(sequence) * 1000)
            line.origin = origin
            line.position = sequence
            line.base = sequence - 1
            line.clock = HybridTime(milliseconds: time.milliseconds, counter: 0)
            line.acceptedAt = time
            line.at = line.at ?? time
            for reference in line.payload.references
            where 1...batch.origins.count ~= reference.number {
                let id = Array(batch.origins[reference.number - 1].text.utf8)
                line.payload.setBytes(id.span, at: reference.fieldIndex)
            }
            if let index = line.type.newIDFieldIndex, line.payload.slots[index] == .absent {
                line.payload.setBytes(Array(origin.text.utf8).span, at: index)
            }
        }

        private mutating func apply(_ line: EventLine) {
            let before = file.models.map(\.taken)
            // One that takes too long is ended the first time, and set aside the second time.
            if (try? file.apply(line, .eachEvent)) == nil {
                guard (try? file.apply(line, .eachEvent)) != nil else { return }
            }
            for (index, model) in file.plan.models.enumerated()
            where model.types[line.type.name] != nil {
                let pair = Pair(model: index, type: line.type.name)
                let taken = file.models[index].taken > before[index] ? 1 : 0
                let known = counts[pair] ?? (0, 0)
                counts[pair] = (known.taken + taken, known.all + 1)
            }
        }

        func problems() throws(ProjectionError) -> [PackProblem] {
            let quarantined = try file.quarantined()
            var problems = found
            if isOver {
                problems.append(
                    PackProblem(
                        file: "examples",
                        line: nil,
                        rule: "limit",
                        message: "the examples take too long; make the statements simpler"
                    )
                )
            }
            for (pair, count) in counts where count.taken == 0 {
                let model = file.plan.models[pair.model].model.name
                let place = places[pair.type]
                let event = quarantined.first { $0.model == model && $0.type == pair.type }
                problems.append(
                    PackProblem(
                        file: place?.file ?? "examples",
                        line: place?.line,
                        rule: "example-model",
                        message: "the read model \(model) takes no example of \(pair.type): "
                            + (event?.message ?? "no reason is known")
                    )
                )
            }
            return problems.sorted { ($0.file, $0.line ?? 0) < ($1.file, $1.line ?? 0) }
        }
    }
}
