import DiarioCore
import DiarioCrypto
import DiarioFormat
package import DiarioLog
package import DiarioSchema
import DiarioStorage

extension Space {
    /// Keeps what verifies of the directory at `path`, sets the rest aside, and says what is lost.
    ///
    /// Packs that were adopted and are damaged are taken from those that come with the program, and
    /// from `packs`. With `isRehearsal` it says what it would do, and changes nothing.
    package static func repair(
        at path: String,
        packs own: [Pack] = [],
        isRehearsal: Bool
    ) throws(DiarioError) -> RepairReport {
        let directory: POSIXDirectory
        do throws(StorageError) {
            directory = try POSIXDirectory(
                path: path + "/" + LogPaths.directoryName,
                access: isRehearsal ? .read : .readWrite
            )
        } catch {
            throw DiarioError(error)
        }
        let engine = try PackSource.engine()
        guard let reader = EngineReader(engine.types) else {
            preconditionFailure("the engine's pack says how packs are adopted")
        }
        var packs: [Hash32: [PackFile]] = [:]
        for pack in try PackSource.builtIn() + [engine] + own {
            let files = pack.files.filter { !$0.path.hasPrefix("examples/") }
            packs[Fingerprint.pack(files)] = files
        }
        var repair = LogRepair(
            directory,
            time: SystemClock(),
            entropy: SystemEntropy(),
            engine: reader,
            types: engine.types,
            packs: packs
        )
        return try logging { () throws(LogError) in
            isRehearsal ? try repair.rehearse() : try repair.run()
        }
    }
}
