import DiarioSimulation

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

exit(SimulationCommand(Array(CommandLine.arguments.dropFirst())).run())
