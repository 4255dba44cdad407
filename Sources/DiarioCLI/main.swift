// The program `diario`: everything begins and ends in `Program`.

import DiarioSQLite

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

Connection.countMemoryByThread()
exit(await Program.run())
