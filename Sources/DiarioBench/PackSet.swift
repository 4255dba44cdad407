import DiarioCore
import Diario
import DiarioLog
import DiarioSchema
import DiarioStorage

/// The packs that the workload is made for.
struct PackSet {
    /// All types, those of the engine too.
    let catalog: TypeCatalog
    /// Finds adoptions, as every log needs it.
    let adoption: AdoptionReader

    /// The packs of a folder, or those that are part of the program.
    init(folder: String?) throws(BenchError) {
        let files = try folder.map(Self.files) ?? Self.builtIn
        var packs: [Pack] = []
        for (name, files) in files.sorted(by: { $0.key < $1.key }) {
            do throws(PackError) {
                packs.append(try Pack(files: files))
            } catch {
                throw .failed("\(name): \(error.problems[0])")
            }
        }
        do throws(PackError) {
            catalog = try TypeCatalog(packs)
        } catch {
            throw .failed("\(error.problems[0])")
        }
        guard let type = catalog.newest(AdoptionReader.typeName),
            let adoption = AdoptionReader(type)
        else { throw .failed("there is no type \(AdoptionReader.typeName) in the packs") }
        self.adoption = adoption
    }

    private static var builtIn: [String: [PackFile]] {
        var packs: [String: [PackFile]] = [:]
        for file in BuiltInPacks.files {
            add(file.path, Array(file.text.utf8), to: &packs)
        }
        return packs
    }

    private static func add(
        _ path: String,
        _ bytes: [UInt8],
        to packs: inout [String: [PackFile]]
    ) {
        let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return }
        packs[parts[0], default: []].append(PackFile(path: parts[1], bytes: bytes))
    }

    private static func files(in folder: String) throws(BenchError) -> [String: [PackFile]] {
        do throws(StorageError) {
            let directory = try POSIXDirectory(path: folder, access: .read)
            var packs: [String: [PackFile]] = [:]
            for pack in try directory.list("") where try directory.exists(pack + "/pack.json") {
                var names = ["pack.json"]
                for part in ["events", "reference", "readmodel", "queries"]
                where try directory.exists(pack + "/" + part) {
                    names += try directory.list(pack + "/" + part).map { part + "/" + $0 }
                }
                for name in names {
                    let path = pack + "/" + name
                    add(path, try directory.contents(of: path, sizeMax: 1 << 23), to: &packs)
                }
            }
            return packs
        } catch {
            throw .failed("the packs of \(folder) cannot be read: \(error)")
        }
    }
}
