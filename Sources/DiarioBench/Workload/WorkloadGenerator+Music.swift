import DiarioCore

extension WorkloadGenerator {
    mutating func putMusic() {
        if options.goesOn {
            if happens(22) { return putLibrary() }
            if let play = replicas[replica].play { return putStep(of: play) }
        }
        // Whoever wants a track that nobody knows yet brings it along.
        let track = world.trackRanks.draw(&random)
        guard isTrackKnown[track], options.goesOn || !random.oneIn(40) else {
            return putTrack(track)
        }
        guard !options.goesOn else { return putPlayback(track) }
        switch random.below(100) {
        case 0..<3: putPlaylist()
        case 3..<20: putItem(track)
        default: putPlayback(track)
        }
    }

    mutating func putTrack(_ index: Int) {
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

    mutating func putPlaylist() {
        line.put("music.playlist.created\",\"payload\":{")
        let subject = putNewID("\"playlistId\":\"", .ulid, isMentioned: true)
        playlists.append(Playlist(subject: subject, lastItem: nil))
        // Its maker knows it at once.
        replicas[replica].knownPlaylists = playlists.count
        replicas[replica].playlists.append(playlists.count - 1)
        let isAlbum = random.oneIn(4)
        if isAlbum { line.put("\"mode\":\"album\"") } else { line.put("\"mode\":\"playlist\"") }
        if happens(90) { putNote(",\"name\":\"", phraseCountMax: 2) }
        if adds(20) { putNote(",\"note\":\"") }
    }

    mutating func putItem(_ track: Int) {
        guard let index = playlist() else { return putPlaylist() }
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
        if options.goesOn { playlists[index].items.append(item) }
        if adds(25) { putNote(",\"note\":\"") }
    }

    private mutating func putPlayback(_ track: Int) {
        line.put("music.playback.started\",\"payload\":{")
        let subject = putNewID("\"playId\":\"", .ulid)
        line.put("\"trackId\":\"")
        putTrackID(track)
        if let index = playlist(percent: 35) {
            let playlist = playlists[index]
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
        let percent = options.goesOn ? 90 : 75
        let positionMs = happens(percent) ? 0 : random.below(world.tracks[track].durationMs)
        line.put(number: positionMs)
        if options.goesOn {
            replicas[replica].play = Play(subject: subject, track: track, positionMs: positionMs)
        }
        if happens(options.goesOn ? 90 : 45) {
            line.put(",\"output\":\"")
            line.put(Phrases.outputs, (replica + random.below(3)) % Phrases.outputs.count)
            line.put("\"")
        }
    }

    mutating func putTrackID(_ index: Int) {
        line.put(hexadecimal: world.tracks[index].high)
        line.put(hexadecimal: world.tracks[index].low)
    }

    /// A playlist that this replica knows: where things go on, mostly one of its own.
    ///
    /// Nil if it knows none, or in all but `percent` of 100 draws.
    mutating func playlist(percent: Int = 100) -> Int? {
        let known = replicas[replica].knownPlaylists
        guard known > 0, percent == 100 || adds(percent) else { return nil }
        guard options.goesOn else { return favourite(of: known) }
        let own = happens(70) ? replicas[replica].playlists.draw(&random) : nil
        let index = own ?? favourite(of: known)
        return playlists[index].isDeleted ? nil : index
    }
}
