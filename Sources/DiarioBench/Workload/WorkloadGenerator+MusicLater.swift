import DiarioCore

// What becomes of tracks that play, of playlists and of tags.
extension WorkloadGenerator {
    /// The next step of a track that plays, until it ends in one of three ways.
    mutating func putStep(of play: Play) {
        let durationMs = world.tracks[play.track].durationMs
        let restMs = max(1, durationMs - play.positionMs)
        if play.isPaused {
            if happens(85) {
                put("music.playback.resumed", play)
                replicas[replica].play?.isPaused = false
                return putPosition(play.positionMs)
            }
            return putStopped(play, at: play.positionMs)
        }
        switch random.below(100) {
        case 0..<14:
            let positionMs = play.positionMs + random.below(restMs)
            put("music.playback.paused", play)
            replicas[replica].play?.positionMs = positionMs
            replicas[replica].play?.isPaused = true
            putPosition(positionMs)
        case 14..<27:
            let fromMs = play.positionMs + random.below(restMs)
            let toMs = random.below(durationMs)
            put("music.playback.seeked", play)
            replicas[replica].play?.positionMs = toMs
            line.put("\",\"fromMs\":")
            line.put(number: fromMs)
            line.put(",\"toMs\":")
            line.put(number: toMs)
        case 27..<68:
            put("music.playback.completed", play)
            replicas[replica].play = nil
            line.put("\",\"listenedMs\":")
            line.put(number: restMs)
        case 66..<90:
            put("music.playback.skipped", play)
            replicas[replica].play = nil
            let isNext = happens(80)
            line.put(isNext ? "\",\"direction\":\"next" : "\",\"direction\":\"previous")
            // Most are skipped soon.
            let positionMs = min(random.below(restMs), random.below(restMs))
            putPosition(play.positionMs + positionMs)
            if !isNext, positionMs > 3000 {
                line.put(",\"result\":\"restart\"")
            } else if random.oneIn(12) {
                line.put(",\"result\":\"end\"")
            } else {
                line.put(",\"result\":\"item\"")
            }
        default: putStopped(play, at: play.positionMs + random.below(restMs))
        }
    }

    private mutating func put(_ type: StaticString, _ play: Play) {
        line.put(type)
        line.put("\",\"payload\":{\"playId\":\"")
        putID(play.subject, .ulid)
    }

    private mutating func putPosition(_ positionMs: Int) {
        line.put("\",\"positionMs\":")
        line.put(number: positionMs)
    }

    private mutating func putStopped(_ play: Play, at positionMs: Int) {
        put("music.playback.stopped", play)
        replicas[replica].play = nil
        putPosition(positionMs)
        switch random.below(8) {
        case 0: line.put(",\"cause\":\"route\"")
        case 1: line.put(",\"cause\":\"interruption\"")
        case 2, 3: line.put(",\"cause\":\"replaced\"")
        default: line.put(",\"cause\":\"user\"")
        }
    }

    /// Somebody tidies up: playlists, and the tags of tracks.
    mutating func putLibrary() {
        switch random.below(100) {
        case 0..<24: putItem(world.trackRanks.draw(&random))
        case 24..<34: putMovedItem()
        case 34..<46: putRemovedItem()
        case 46..<48: putPlaylist()
        case 48..<58: putChangedPlaylist()
        case 58..<80: putEditedTrack(world.trackRanks.draw(&random))
        case 80..<81: putRemovedTrack(world.trackRanks.draw(&random))
        // Tags are read again.
        default: putTrack(world.trackRanks.draw(&random))
        }
    }

    private mutating func putMovedItem() {
        guard let index = playlist(), let item = playlists[index].items.draw(&random) else {
            return putItem(world.trackRanks.draw(&random))
        }
        line.put("music.playlist.track.moved\",\"payload\":{")
        let slot = putNewID("\"slotId\":\"", .ulid)
        line.put("\"playlistId\":\"")
        putID(playlists[index].subject, .ulid)
        line.put("\",\"itemId\":\"")
        putID(item, .ulid)
        line.put("\"")
        if let neighbour = playlists[index].lastItem {
            line.put(",\"leftSlotId\":\"")
            putID(neighbour, .ulid)
            line.put("\"")
            playlists[index].lastItem = slot
        }
    }

    private mutating func putRemovedItem() {
        guard let index = playlist(), let item = playlists[index].items.take(&random) else {
            return putItem(world.trackRanks.draw(&random))
        }
        line.put("music.playlist.track.removed\",\"payload\":{\"playlistId\":\"")
        putID(playlists[index].subject, .ulid)
        line.put("\",\"itemId\":\"")
        putID(item, .ulid)
        line.put("\"")
    }

    private mutating func putChangedPlaylist() {
        guard let index = playlist() else { return putPlaylist() }
        let way = random.below(16)
        switch way {
        case 0..<8: line.put("music.playlist.renamed\",\"payload\":{\"playlistId\":\"")
        case 8..<11: line.put("music.playlist.mode.changed\",\"payload\":{\"playlistId\":\"")
        case 11..<14: line.put("music.playlist.cleared\",\"payload\":{\"playlistId\":\"")
        default: line.put("music.playlist.deleted\",\"payload\":{\"playlistId\":\"")
        }
        putID(playlists[index].subject, .ulid)
        line.put("\"")
        switch way {
        case 0..<8: putNote(",\"name\":\"", phraseCountMax: 2)
        case 8..<11: line.put(",\"mode\":\"album\"")
        case 11..<14: playlists[index].items.removeAll()
        default: playlists[index].isDeleted = true
        }
    }

    private mutating func putEditedTrack(_ index: Int) {
        guard isTrackKnown[index] else { return putTrack(index) }
        let track = world.tracks[index]
        line.put("music.track.edited\",\"payload\":{\"trackId\":\"")
        putTrackID(index)
        switch random.below(8) {
        case 0, 1:
            line.put("\",\"genre\":\"")
            line.put(Phrases.genres, (track.artist + random.below(2)) % Phrases.genres.count)
            line.put("\"")
        case 2, 3:
            line.put("\",\"title\":\"")
            line.put(Phrases.titles, track.title)
            line.put(happens(50) ? " (live)\"" : " (remastered)\"")
        case 4:
            line.put("\",\"artistName\":\"")
            line.put(Phrases.artists, track.artist)
            line.put("\"")
        case 5:
            line.put("\",\"trackNo\":")
            line.put(number: 1 + random.below(18))
        case 6:
            line.put("\",\"year\":")
            line.put(number: track.year - random.below(3))
        default: line.put("\",\"unset\":[\"composerName\"]")
        }
    }

    private mutating func putRemovedTrack(_ index: Int) {
        guard isTrackKnown[index] else { return putTrack(index) }
        // It is still there for others, and may be imported again.
        line.put("music.track.removed\",\"payload\":{\"trackId\":\"")
        putTrackID(index)
        line.put(happens(60) ? "\",\"reason\":\"file_missing\"" : "\",\"reason\":\"user\"")
    }
}
