/// A library by which another run of this program syncs nothing: for making large folders whose
/// content nobody has to keep.
///
/// Made with the system's C compiler when it is needed: it must be no part of this program.
enum PreloadedLibrary {
    private static let source = """
        int fdatasync(int descriptor) { return descriptor < 0 ? -1 : 0; }
        int fsync(int descriptor) { return descriptor < 0 ? -1 : 0; }

        """

    /// Compiles the library, and gives its path from the root on.
    static func make(in scratch: Scratch) throws -> String {
        let path = scratch.path + "/nosync.c"
        let library = try System.absolute(scratch.path) + "/nosync.so"
        try System.write(source, to: path)
        try Child.runTool("cc", ["-shared", "-fPIC", "-O2", "-o", library, path])
        return library
    }
}
