import Diario
import DiarioCore
import DiarioCrypto
import DiarioHost
import DiarioServer

extension Command {
    static let verify = Command(
        "verify",
        "check all that the space holds",
        details: """
            Reads all events and checks every checksum, rule, payload and hash. Names each fault
            with file and offset, and ends with 1 if there is one. Changes nothing. Cut are frames
            that a crash tore: they were never acknowledged. To keep all that verifies of a damaged
            folder: `diario salvage DIR NEW`.

            In a folder with several spaces, as a server's, it checks all of them, unless --space in
            front of the command names one.

            Of the pictures and other bytes beside the events it looks at the sizes; with --blobs it
            reads them all, and compares their SHA-256 with their ids. A damaged one loses its name
            in .diario/blobs, and the bytes are kept as ID.damaged: so it counts as missing, and the
            next sync brings it again.

            Read models are left out, since they follow from the events: `diario rebuild --check`
            compares them with new ones.
            """,
        options: [
            .flag("blobs", "all bytes of pictures and other blobs, not only their sizes"), .json,
            .noProgress,
        ],
        examples: [
            "diario verify": "ends with 0 if all is well",
            "diario -C served verify": "all spaces of a server",
        ],
        run: { try VerifyCommand.run($0) }
    )
}

/// The command `diario verify`.
enum VerifyCommand {
    static func run(_ call: Invocation) throws {
        do { try verify(call) } catch {
            guard case .damaged(let fault, _) = Failure(error), call.isJSON else { throw error }
            // It cannot be opened, so that this is all that is known of it.
            try call.output.json(fields(SpaceVerification(unopened: fault)))
            throw error
        }
    }

    private static func verify(_ call: Invocation) throws {
        guard call.choice.text == nil else { return try verifyOne(call) }
        let place = try call.location.find()
        let folder = try Space.openAll(at: place)
        let controlFault = SpaceChoice.controlFault(in: place)
        let isOne = folder.entries.count == 1 && controlFault == nil
        if isOne || folder.entries.isEmpty && !SpaceChoice.holdsControl(place) {
            // One is what most folders have; of a server's there may be none yet.
            try folder.close()
            return try verifyOne(call)
        }
        if let cut = folder.store.cutText { call.remark(cut) }
        do {
            let names = SpaceChoice.names(in: place)
            try FolderVerification(folder, names: names, controlFault, call).tell(call)
        } catch {
            // The first failure is the one to report, and damage may be why.
            if let damage = folder.store.damage { call.remark(damage.message) }
            try? folder.close()
            throw error
        }
        try folder.close()
    }

    private static func verifyOne(_ call: Invocation) throws {
        try call.reading { space in
            let total = try space.state().storedCount
            let result = try call.withBar("Verifying", unit: "events") { bar in
                try space.verify { bar.update(done: UInt64($0), total: total) }
            }
            let blobs = try BlobFaults(of: [space], call, space.verifyBlobs)
            if call.isJSON {
                try call.output.json(fields(result, blobs))
            } else {
                try print(result, call)
                try blobs.print(call)
                if !result.isOK { try tellRemedy(call) }
            }
            guard result.isOK, blobs.faults.isEmpty else { throw Failure.found }
        }
    }

    static func fields(_ result: SpaceVerification, _ blobs: BlobFaults? = nil) -> Fields {
        let faults = result.faults + (blobs?.faults ?? [])
        return [
            "ok": faults.isEmpty && result.isOK, "events": result.events,
            "blobs": ifKnown(blobs?.countIfRead), "root": result.root?.text,
            "cut": result.cuts, "faults": faults.map { Fields($0) },
        ]
    }

    /// Prints a result, with the name of its space if there are several.
    static func print(
        _ result: SpaceVerification,
        of name: String? = nil,
        _ call: Invocation
    ) throws {
        for fault in result.faults {
            try call.output.line("fault: \(CellText.oneLine(fault.message))")
        }
        for cut in result.cuts {
            try call.output.line(
                "cut: \(CellText.oneLine(cut)) (torn by a crash, never acknowledged)"
            )
        }
        let events = Show.count(UInt64(max(0, result.events)), "event")
        let verdict =
            result.isOK ? "ok" : "NOT OK: \(Show.count(UInt64(result.faults.count), "fault"))"
        let root = result.root.map { ", root \($0.text)" } ?? ""
        try call.output.line("\(name.map { "\($0): " } ?? "")\(verdict), \(events)\(root)")
    }

    static func tellRemedy(_ call: Invocation) throws {
        try call.output.line("to keep all that verifies: diario salvage DIR NEW")
    }
}

/// The findings of `verify` about blobs.
struct BlobFaults {
    private let isWhole: Bool
    private let count: Int
    let faults: [Fault]
    /// True if damaged bytes could be set aside.
    private let isAside: Bool

    /// Nil if only sizes were looked at.
    var countIfRead: Int? { isWhole ? count : nil }

    /// Looks at the blobs of a folder, to which events of these spaces refer.
    init(
        of spaces: [Space],
        _ call: Invocation,
        _ verify: (_ sizes: [Hash32: Int64]?, (Int, Int) -> Void) throws -> BlobVerification
    ) throws {
        isWhole = call.has("blobs")
        let sizes = isWhole ? nil : try Self.sizes(spaces, call)
        let found = try call.withBar("Verifying", unit: "blobs") { bar in
            try verify(sizes) {
                bar.update(done: UInt64($0), total: UInt64($1))
            }
        }
        (count, faults) = (found.count, found.faults)
        isAside = try Space.setAside(found.damaged, at: call.location.find())
    }

    /// As events say them, as far as these can be read: what is wrong with others is said of them.
    private static func sizes(
        _ spaces: [Space],
        _ call: Invocation
    ) throws -> [Hash32: Int64] {
        guard try spaces.first?.storedBlobs().isEmpty == false else { return [:] }
        var sizes: [Hash32: Int64] = [:]
        for space in spaces {
            let referred = try call.withBar("Following the log", unit: "events") { bar in
                try? ReadModels(space).referredBlobs { bar.update(done: $1, total: $2) }
            }
            for blob in referred ?? [] { sizes[blob.id] = blob.storedSize }
        }
        return sizes
    }

    func print(_ call: Invocation) throws {
        for fault in faults {
            try call.output.line("fault: \(CellText.oneLine(fault.message))")
        }
        if isWhole || !faults.isEmpty {
            let verdict =
                faults.isEmpty ? "ok" : "NOT OK: \(Show.count(UInt64(faults.count), "fault"))"
            try call.output.line("\(verdict), \(Show.count(UInt64(count), "blob"))")
        }
        guard !faults.isEmpty else { return }
        try call.output.line(
            isAside
                ? "a damaged blob counts as missing from now on. The next sync brings it: of this "
                    + "replica, or, if this is a server's folder, of a device that has it. Or copy "
                    + "the file named by its id from a backup to .diario/blobs"
                : "nothing can be changed here. In a backup, the next one mends it; else run this "
                    + "as who may write here"
        )
    }
}

/// The findings of `verify` in a folder that has several spaces, or none yet.
private struct FolderVerification {
    private let results: [(id: SpaceID, name: SpaceName?, result: SpaceVerification)]
    /// The fault of the log that all of them have.
    private let logDamage: DiarioError?
    /// The fault of the names and tokens.
    private let controlFault: Fault?
    private let blobs: BlobFaults

    /// Reads and checks all of the spaces, whatever is wrong with one of them.
    init(
        _ folder: SpaceFolder,
        names: [NamedSpace],
        _ controlFault: Fault?,
        _ call: Invocation
    ) throws {
        let found = try call.withBar("Verifying", unit: "events") { bar in
            try folder.verify { bar.update(done: $0, total: $1) }
        }
        results = found.map { id, result in (id, names.first { $0.id == id }?.name, result) }
        let spaces = folder.entries.compactMap { try? $0.space.get() }
        blobs = try BlobFaults(of: spaces, call, folder.store.verifyBlobs)
        logDamage = folder.store.damage
        self.controlFault = controlFault
    }

    func tell(_ call: Invocation) throws {
        let damaged = results.count { !$0.result.isOK }
        let isOK =
            damaged == 0 && logDamage == nil && controlFault == nil
            && blobs.faults.isEmpty
        let events = results.reduce(0) { $0 + max(0, $1.result.events) }
        if call.isJSON {
            var faults = [logDamage?.fault, controlFault].compactMap { $0 }
            faults += blobs.faults
            // The log that all of them have is one, however many of them report it.
            for fault in results.flatMap(\.result.faults) where !faults.contains(fault) {
                faults.append(fault)
            }
            let spaces = results.map { id, name, result -> Fields in
                ["id": id.text, "space": name?.text] + VerifyCommand.fields(result)
            }
            try call.output.json([
                "ok": isOK, "events": events, "blobs": ifKnown(blobs.countIfRead),
                "faults": faults.map { Fields($0) },
                "spaces": spaces,
            ])
        } else {
            for (id, name, result) in results {
                let shown = name.map { "\($0.text) (\(id.text))" } ?? id.text
                try VerifyCommand.print(result, of: shown, call)
            }
            try blobs.print(call)
            if let fault = logDamage?.fault, results.isEmpty { try call.output.line(fault.message) }
            if let controlFault {
                try call.output.line("fault: \(CellText.oneLine(controlFault.message))")
            }
            let spaces = Show.count(UInt64(results.count), "space")
            let names = controlFault == nil ? "" : "names and tokens, and "
            let verdict = isOK ? "ok, \(spaces)" : "NOT OK: \(names)\(damaged) of \(spaces)"
            try call.output.line("\(verdict), \(Show.count(UInt64(events), "event"))")
            if damaged > 0 || logDamage != nil { try VerifyCommand.tellRemedy(call) }
        }
        guard isOK else { throw Failure.found }
    }
}

extension Fields {
    init(_ fault: Fault) {
        self = ["file": fault.file, "offset": fault.offset, "what": fault.what]
    }
}
