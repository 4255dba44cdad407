import DiarioCore

extension WorkloadGenerator {
    mutating func putMusic() {
        // Whoever wants a track that nobody knows yet brings it along.
        let track = world.trackRanks.draw(&random)
        guard isTrackKnown[track], !random.oneIn(40) else { return putTrack(track) }
        switch random.below(100) {
        case 0..<3: putPlaylist()
        case 3..<20: putItem(track)
        default: putPlayback(track)
        }
    }

    private mutating func putTrack(_ index: Int) {
        isTrackKnown[index] = true
        let track = world.tracks[index]
        line.put("music.track.imported\",\"payload\":{\"trackId\":\"")
        putTrackID(index)
        line.put("\",\"title\":\"")
        line.put(Phrases.titles, track.title)
        line.put("\",\"artistName\":\"")
        line.put(Phrases.artists, track.artist)
        line.put("\",\"albumTitle\":\"")
        line.put(Phrases.titles, track.album)
        line.put("\",\"trackNo\":")
        line.put(number: track.number)
        line.put(",\"durationMs\":")
        line.put(number: track.durationMs)
        if adds(80) {
            line.put(",\"year\":")
            line.put(number: track.year)
        }
        if random.oneIn(10) { line.put(",\"compilation\":true") }
        if random.oneIn(5) {
            line.put(",\"mbRecordingId\":\"")
            line.put(uuid: track.high ^ 0x5bd1, track.low)
            line.put("\"")
        }
        if adds(80) {
            line.put(",\"locator\":\"")
            line.put(Phrases.artists, track.artist)
            line.put("/")
            line.put(Phrases.titles, track.title)
            line.put(".flac\"")
        }
    }

    private mutating func putPlaylist() {
        line.put("music.playlist.created\",\"payload\":{")
        let subject = putNewID("\"playlistId\":\"", .ulid, isMentioned: true)
        playlists.append(Playlist(subject: subject, lastItem: nil))
        // Its maker knows it at once.
        replicas[replica].knownPlaylists = playlists.count
        let isAlbum = random.oneIn(4)
        if isAlbum { line.put("\"mode\":\"album\"") } else { line.put("\"mode\":\"playlist\"") }
        if happens(90) { putNote(",\"name\":\"", phraseCountMax: 2) }
        if adds(20) { putNote(",\"note\":\"") }
    }

    private mutating func putItem(_ track: Int) {
        let known = replicas[replica].knownPlaylists
        guard known > 0 else { return putPlaylist() }
        let index = favourite(of: known)
        let playlist = playlists[index]
        line.put("music.playlist.track.added\",\"payload\":{")
        let item = putNewID("\"itemId\":\"", .ulid, isMentioned: true)
        line.put("\"playlistId\":\"")
        putID(playlist.subject, .ulid)
        line.put("\",\"trackId\":\"")
        putTrackID(track)
        line.put("\"")
        if let last = playlist.lastItem, happens(80) {
            line.put(",\"leftSlotId\":\"")
            putID(last, .ulid)
            line.put("\"")
        }
        playlists[index].lastItem = item
        if adds(25) { putNote(",\"note\":\"") }
    }

    private mutating func putPlayback(_ track: Int) {
        line.put("music.playback.started\",\"payload\":{")
        _ = putNewID("\"playId\":\"", .ulid)
        line.put("\"trackId\":\"")
        putTrackID(track)
        let known = replicas[replica].knownPlaylists
        if known > 0, adds(35) {
            let playlist = playlists[favourite(of: known)]
            line.put("\",\"playlistId\":\"")
            putID(playlist.subject, .ulid)
            if let item = playlist.lastItem, happens(40) {
                line.put("\",\"itemId\":\"")
                putID(item, .ulid)
            }
            line.put("\",\"via\":\"playlist\",\"positionMs\":")
        } else {
            switch random.below(5) {
            case 0, 1: line.put("\",\"via\":\"graph\",\"positionMs\":")
            case 2: line.put("\",\"via\":\"next\",\"positionMs\":")
            case 3: line.put("\",\"via\":\"previous\",\"positionMs\":")
            default: line.put("\",\"via\":\"resume\",\"positionMs\":")
            }
        }
        line.put(number: happens(75) ? 0 : random.below(world.tracks[track].durationMs))
        if happens(45) {
            line.put(",\"output\":\"")
            line.put(Phrases.outputs, (replica + random.below(3)) % Phrases.outputs.count)
            line.put("\"")
        }
    }

    private mutating func putTrackID(_ index: Int) {
        line.put(hexadecimal: world.tracks[index].high)
        line.put(hexadecimal: world.tracks[index].low)
    }
}
