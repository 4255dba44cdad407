#if hasFeature(Embedded)
package import DiarioCore

/// Where there is one thread nobody waits for a turn.
package typealias FairLock = Mutex
#endif
