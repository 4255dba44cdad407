#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

exit(await BenchProgram.run(Array(CommandLine.arguments.dropFirst())))
