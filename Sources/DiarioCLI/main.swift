// The program `diario`: everything begins and ends in `Program`.

import Diario

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

Diary.countMemoryByThread()
exit(await Program.run())
