import DiarioSQLite

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

Connection.countMemoryByThread()
exit(await BenchProgram.run(Array(CommandLine.arguments.dropFirst())))
