import DiarioSchema

/// A pack that is part of a program.
///
/// The build plugin `DiarioEvents` makes one for each pack of a target, so that the program need
/// not find folders when it runs. Its examples are left out.
public struct EmbeddedPack: Sendable {
    let files: [PackFile]

    /// Made by the plugin: of each file the path below the folder of the pack, and the content.
    public init(files: [(path: String, text: String)]) {
        self.files = files.map { PackFile(path: $0.path, bytes: Array($0.text.utf8)) }
    }
}
