import CPlatform
package import DiarioCore

/// The clock on the wall (`clock_gettime`).
package struct SystemClock: TimeSource {
    package init() {}

    package var now: Timestamp { Timestamp(milliseconds: diario_wall_milliseconds()) }
}
