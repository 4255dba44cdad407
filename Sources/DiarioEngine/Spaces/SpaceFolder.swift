package import DiarioCore
package import DiarioLog
package import DiarioStorage

/// All spaces of a data directory, open for reading.
package struct SpaceFolder: Sendable {
    package let store: LogStore
    /// In order of id.
    package private(set) var entries: [Entry] = []

    /// A space of a folder, or the damage that keeps it from being opened.
    package struct Entry: Sendable {
        package let id: SpaceID
        package let space: Result<Space, Fault>
    }

    /// Opens all spaces; those that are damaged say so.
    package init(
        in directory: any LogDirectory,
        _ surroundings: Surroundings
    ) throws(DiarioError) {
        store = try Space.openStore(directory, access: .readOnly, surroundings)
        let live: [SpaceID]
        do {
            let (manifests, damaged) = try store.readableManifests()
            live = manifests.filter { !$0.isStaging }.map { $0.space }
            for (id, fault) in try damaged + store.missingManifests() {
                entries.append(Entry(id: id, space: .failure(fault)))
            }
        } catch {
            throw DiarioError(error)
        }
        for id in live { entries.append(Entry(id: id, space: try open(id))) }
        entries.sort { $0.id < $1.id }
    }

    private func open(_ id: SpaceID) throws(DiarioError) -> Result<Space, Fault> {
        let gone: Fault?
        do { gone = try store[id].missingFault() } catch { throw DiarioError(error) }
        // Of a log that could not be read to its end nothing is gone yet.
        if let gone, store.fault == nil { return .failure(gone) }
        do throws(DiarioError) { return .success(try Space(store: store, id: id)) } catch {
            guard let fault = error.fault else { throw error }
            return .failure(fault)
        }
    }

    package func close() throws(DiarioError) {
        do { try store.close() } catch { throw DiarioError(error) }
    }

    /// Reads and checks all of the spaces, whatever is wrong with one of them.
    ///
    /// `progress` is told how many of how many events were read.
    package func verify(
        progress: (UInt64, UInt64) -> Void
    ) throws(DiarioError) -> [(id: SpaceID, result: SpaceVerification)] {
        var total: UInt64 = 0
        for entry in entries {
            if case .success(let space) = entry.space { total += try space.state().storedCount }
        }
        var done: UInt64 = 0
        var results: [(id: SpaceID, result: SpaceVerification)] = []
        for entry in entries {
            var read: UInt64 = 0
            let result: SpaceVerification
            switch entry.space {
            case .failure(let fault): result = SpaceVerification(unopened: fault)
            case .success(let space):
                do throws(DiarioError) {
                    result = try space.verify { count in
                        read = UInt64(count)
                        progress(done + read, total)
                    }
                } catch {
                    guard let fault = error.fault else { throw error }
                    result = SpaceVerification(unopened: fault)
                }
            }
            done += read
            results.append((entry.id, result))
        }
        return results
    }
}
