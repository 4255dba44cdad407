import CPlatform
package import DiarioCore

/// The clock on the wall (`clock_gettime`).
package final class SystemClock: TimeSource {
    package init() {}

    package var now: Timestamp { Timestamp(milliseconds: diario_wall_milliseconds()) }
}
