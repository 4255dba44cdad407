import DiarioCore
import DiarioStorage

extension Writer {
    /// Writes a manifest anew; durable when it returns.
    ///
    /// When it throws, others may read the old one or the new one.
    mutating func replaceManifest(_ manifest: Manifest) throws(LogError) {
        let directory = store.directory
        let path = LogPaths.manifest(manifest.space)
        let encoded = manifest.encoded()
        // Known again only once it is on disk.
        var home = homes.removeValue(forKey: manifest.space)
        var lastingHome = lasting.removeValue(forKey: manifest.space)
        try storing { () throws(StorageError) in
            try Files.replace(path, with: encoded, in: directory)
        }
        home?.manifest = manifest
        lastingHome?.manifest = manifest
        homes[manifest.space] = home
        lasting[manifest.space] = lastingHome
    }

    /// Changes the list of segments of a space, and tells what it is then; durable when it returns.
    ///
    /// From then on readers find the new segments.
    mutating func changeSegments(
        of space: SpaceID,
        _ body: (inout Manifest) throws(LogError) -> Void
    ) throws(LogError) -> Manifest {
        var manifest = try lastingManifest(of: space)
        let old = manifest
        try body(&manifest)
        guard manifest != old else { return manifest }
        try replaceManifest(manifest)
        store.segments.set(manifest)
        return manifest
    }
}
