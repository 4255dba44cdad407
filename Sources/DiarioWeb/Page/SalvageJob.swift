import DiarioCore
import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioSchema
import DiarioStorage

/// Gives the pending events of a directory that does not open, as far as they verify: lines of JSON
/// as `diario export --pending` writes them, and at the end what was damaged.
///
/// All that verifies is written into a directory in memory first; nothing is changed in the other.
final class SalvageJob: PageJob {
    private let target: PooledDirectory
    private let store: LogStore
    private var salvage: Salvage?
    private var spaces: [SpaceID] = []
    private var reader: EventReader?
    private var count = 0
    private var report = SalvageReport()

    /// Bytes between two looks at the clock.
    private static let size = 64 * 1024
    /// Events between two.
    private static let eventCount = 64
    /// Files that are there at first, and those that are added when few are left.
    private static let fileCount = 64
    private static let spareCount = 16

    init(_ directory: any LogDirectory, _ surroundings: Surroundings) throws(DiarioError) {
        do throws(StorageError) {
            target = try PooledDirectory((0..<Self.fileCount).map { _ in MemoryFile() })
        } catch {
            throw DiarioError(error)
        }
        do throws(LogError) { try LogStore.create(in: target) } catch { throw DiarioError(error) }
        store = try Space.openStore(target, access: .readWrite, surroundings, isDraft: true)
        let engine = try PackSource.engine()
        let packs = [Fingerprint.pack(engine.files): engine.fingerprintFiles]
        do throws(LogError) {
            salvage = try Salvage(directory, into: store, packs: packs)
        } catch {
            throw DiarioError(error)
        }
    }

    func step(_ isOver: () -> Bool) throws(DiarioError) -> PageStep {
        var lines: [UInt8] = []
        repeat {
            if var salvage = salvage.take() {
                if target.freeCount < Self.spareCount {
                    target.add((0..<Self.fileCount).map { _ in MemoryFile() })
                }
                do throws(LogError) {
                    if try salvage.step(Self.size) {
                        self.salvage = consume salvage
                    } else {
                        report = salvage.report
                        spaces = report.spaces.map { $0.space }
                    }
                } catch {
                    throw DiarioError(error)
                }
            } else if try !read(into: &lines) {
                // Lines come before the report, which is told alone.
                return lines.isEmpty ? .end(json) : .more(lines)
            }
        } while !isOver()
        return .more(lines)
    }

    /// Reads some events; false once there are no more.
    private func read(into lines: inout [UInt8]) throws(DiarioError) -> Bool {
        if reader == nil {
            guard let id = spaces.popLast() else { return false }
            var filter = EventFilter()
            filter.wantPending()
            reader = try EventReader(Space(store: store, id: id), filter)
        }
        for _ in 0..<Self.eventCount {
            guard let line = try reader?.next() else {
                reader = nil
                return true
            }
            EventLineWriter.append(line, to: &lines)
            lines.append(UInt8(ascii: "\n"))
            count += 1
        }
        return true
    }

    private var json: [UInt8] {
        JSONObjectWriter.object { json in
            json.add("events", count)
            json.add("ok", report.isWhole)
            json.add("faults", texts: report.faults.map { $0.message })
        }
    }
}
