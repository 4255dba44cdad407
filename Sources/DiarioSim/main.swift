import DiarioSimulation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

exit(await SimulationCommand(Array(CommandLine.arguments.dropFirst())).run())
