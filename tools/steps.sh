# Sourced by scripts that go through steps: names each, and at the end says how long each took.

steps_began=$(date +%s)
steps_name=
steps_told=

step() {
    steps_end
    steps_name=$1
    steps_since=$(date +%s)
    printf '== %s (after %s s)\n' "$1" "$((steps_since - steps_began))"
}

steps_end() {
    [ -z "$steps_name" ] || steps_told="$steps_told$(printf '%6d s  %s' \
        "$(($(date +%s) - steps_since))" "$steps_name")
"
    steps_name=
}

# Runs at the end, whatever it is.
steps_report() {
    steps_status=$?
    if [ "$steps_status" -ne 0 ] && [ -n "$steps_name" ]; then
        printf '== Failed: %s (status %s)\n' "$steps_name" "$steps_status" >&2
    fi
    steps_end
    printf '== %s s, of which\n%s' "$(($(date +%s) - steps_began))" "$steps_told"
}
trap steps_report EXIT
# What stops it stops it as a failure does.
trap 'exit 130' INT
trap 'exit 143' TERM

# side_by_side < LIST: runs each line of the list as a command, two at a time.
# What each prints comes in one piece. After a failure no other is begun.
side_by_side() {
    xargs -P 2 -d '\n' -n 1 sh -c '
        log=$(mktemp)
        began=$(date +%s)
        status=0
        sh -c "$1" </dev/null >"$log" 2>&1 || status=$?
        {
            printf "== %s (%s s)\n" "$1" "$(($(date +%s) - began))"
            cat "$log"
            [ "$status" -eq 0 ] || printf "== Failed: %s (status %s)\n" "$1" "$status"
        } >"$log.told"
        cat "$log.told"
        rm -f "$log" "$log.told"
        # This status makes xargs begin no other.
        [ "$status" -eq 0 ] || exit 255' side_by_side
}
