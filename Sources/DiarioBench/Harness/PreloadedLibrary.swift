/// A library in front of the system's syncs, for another run of this program.
///
/// Made with the system's C compiler when it is needed: it must be no part of this program.
enum PreloadedLibrary: String {
    /// Each `fdatasync` takes 5 ms longer.
    case slow
    /// Nothing is synced: for making large folders whose content nobody has to keep.
    case none

    private var source: String {
        let head = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <time.h>\n"
        return switch self {
        case .slow:
            head + """
                int fdatasync(int descriptor) {
                    static int (*next)(int);
                    if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
                    struct timespec length = {0, 5000000};
                    nanosleep(&length, 0);
                    return next(descriptor);
                }

                """
        case .none:
            head + """
                int fdatasync(int descriptor) { return descriptor < 0 ? -1 : 0; }
                int fsync(int descriptor) { return descriptor < 0 ? -1 : 0; }

                """
        }
    }

    /// Compiles the library, and gives its path from the root on.
    func make(in scratch: Scratch) throws(BenchError) -> String {
        let source = scratch.path + "/\(rawValue).c"
        let library = try System.absolute(scratch.path) + "/\(rawValue).so"
        let descriptor = try System.create(source)
        defer { System.close(descriptor) }
        try System.write(Array(self.source.utf8), to: descriptor)
        try Child.runTool("cc", ["-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"])
        return library
    }
}
