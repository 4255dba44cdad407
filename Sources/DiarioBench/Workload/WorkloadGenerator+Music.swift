import DiarioCore

// Tracks, playlists and tags, and what becomes of a track that plays.
extension WorkloadGenerator {
    mutating func putMusic() {
        if happens(22) { return putLibrary() }
        if let play = replicas[replica].play { return putStep(of: play) }
        // Whoever wants a track that nobody knows yet brings it along.
        let track = world.trackRanks.draw(&random)
        if isTrackKnown[track] { putPlayback(track) } else { putTrack(track) }
    }

    private func trackID(_ index: Int) -> String {
        hexadecimal(world.tracks[index].high) + hexadecimal(world.tracks[index].low)
    }

    private mutating func putTrack(_ index: Int) {
        isTrackKnown[index] = true
        let track = world.tracks[index]
        let (title, artist) = (Phrases.titles[track.title], Phrases.artists[track.artist])
        begin("music.track.imported")
        put(#""trackId":"\#(trackID(index))","title":"\#(title)","artistName":"\#(artist)","#)
        put(#""albumTitle":"\#(Phrases.titles[track.album])","trackNo":\#(track.number),"#)
        put(#""durationMs":\#(track.durationMs)"#)
        if adds(80) { put(#","year":\#(track.year)"#) }
        if random.oneIn(10) { put(#","compilation":true"#) }
        if random.oneIn(5) { put(#","mbRecordingId":"\#(uuid(track.high ^ 0x5bd1, track.low))""#) }
        if adds(80) { put(#","locator":"\#(artist)/\#(title).flac""#) }
    }

    private mutating func putPlaylist() {
        begin("music.playlist.created")
        playlists.append(Playlist(subject: putNewID("playlistId"), lastItem: nil))
        // Its maker knows it at once.
        replicas[replica].knownPlaylists = playlists.count
        replicas[replica].playlists.append(playlists.count - 1)
        put(random.oneIn(4) ? #""mode":"album""# : #""mode":"playlist""#)
        if happens(90) { putNote("name", phraseCountMax: 2) }
        if adds(20) { putNote("note") }
    }

    private mutating func putItem(_ track: Int) {
        guard let index = playlist() else { return putPlaylist() }
        let playlist = playlists[index]
        begin("music.playlist.track.added")
        let item = putNewID("itemId")
        put(#""playlistId":"\#(playlist.subject.id)","trackId":"\#(trackID(track))""#)
        if let last = playlist.lastItem, happens(80) { put(#","leftSlotId":"\#(last.id)""#) }
        playlists[index].lastItem = item
        playlists[index].items.append(item)
        if adds(25) { putNote("note") }
    }

    private mutating func putPlayback(_ track: Int) {
        begin("music.playback.started")
        let subject = putNewID("playId")
        put(#""trackId":"\#(trackID(track))","#)
        if let index = playlist(percent: 35) {
            let playlist = playlists[index]
            put(#""playlistId":"\#(playlist.subject.id)","#)
            if let item = playlist.lastItem, happens(40) { put(#""itemId":"\#(item.id)","#) }
            put(#""via":"playlist","#)
        } else {
            switch random.below(5) {
            case 0, 1: put(#""via":"graph","#)
            case 2: put(#""via":"next","#)
            case 3: put(#""via":"previous","#)
            default: put(#""via":"resume","#)
            }
        }
        let positionMs = happens(90) ? 0 : random.below(world.tracks[track].durationMs)
        put(#""positionMs":\#(positionMs)"#)
        replicas[replica].play = Play(subject: subject, track: track, positionMs: positionMs)
        if happens(90) {
            let output = (replica + random.below(3)) % Phrases.outputs.count
            put(#","output":"\#(Phrases.outputs[output])""#)
        }
    }

    /// A playlist that this replica knows: where things go on, mostly one of its own.
    ///
    /// Nil if it knows none, or in all but `percent` of 100 draws.
    private mutating func playlist(percent: Int = 100) -> Int? {
        let known = replicas[replica].knownPlaylists
        guard known > 0, percent == 100 || adds(percent) else { return nil }
        let own = happens(70) ? replicas[replica].playlists.draw(&random) : nil
        let index = own ?? favourite(of: known)
        return playlists[index].isDeleted ? nil : index
    }

    // MARK: A track that plays

    /// The next step of a track that plays, until it ends in one of three ways.
    private mutating func putStep(of play: Play) {
        let durationMs = world.tracks[play.track].durationMs
        let restMs = max(1, durationMs - play.positionMs)
        if play.isPaused {
            guard happens(85) else { return putStopped(play, at: play.positionMs) }
            begin("music.playback.resumed", "playId", play.subject)
            replicas[replica].play?.isPaused = false
            return put(#","positionMs":\#(play.positionMs)"#)
        }
        switch random.below(100) {
        case 0..<14:
            let positionMs = play.positionMs + random.below(restMs)
            begin("music.playback.paused", "playId", play.subject)
            replicas[replica].play?.positionMs = positionMs
            replicas[replica].play?.isPaused = true
            put(#","positionMs":\#(positionMs)"#)
        case 14..<27:
            let fromMs = play.positionMs + random.below(restMs)
            let toMs = random.below(durationMs)
            begin("music.playback.seeked", "playId", play.subject)
            replicas[replica].play?.positionMs = toMs
            put(#","fromMs":\#(fromMs),"toMs":\#(toMs)"#)
        case 27..<68:
            begin("music.playback.completed", "playId", play.subject)
            replicas[replica].play = nil
            put(#","listenedMs":\#(restMs)"#)
        case 68..<90: putSkipped(play, restMs)
        default: putStopped(play, at: play.positionMs + random.below(restMs))
        }
    }

    private mutating func putSkipped(_ play: Play, _ restMs: Int) {
        begin("music.playback.skipped", "playId", play.subject)
        replicas[replica].play = nil
        let isNext = happens(80)
        put(isNext ? #","direction":"next","# : #","direction":"previous","#)
        // Most are skipped soon.
        let positionMs = min(random.below(restMs), random.below(restMs))
        put(#""positionMs":\#(play.positionMs + positionMs)"#)
        if !isNext, positionMs > 3000 {
            put(#","result":"restart""#)
        } else {
            put(random.oneIn(12) ? #","result":"end""# : #","result":"item""#)
        }
    }

    private mutating func putStopped(_ play: Play, at positionMs: Int) {
        begin("music.playback.stopped", "playId", play.subject)
        replicas[replica].play = nil
        put(#","positionMs":\#(positionMs)"#)
        switch random.below(8) {
        case 0: put(#","cause":"route""#)
        case 1: put(#","cause":"interruption""#)
        case 2, 3: put(#","cause":"replaced""#)
        default: put(#","cause":"user""#)
        }
    }

    // MARK: Playlists and tags

    /// Somebody tidies up.
    private mutating func putLibrary() {
        switch random.below(100) {
        case 0..<24: putItem(world.trackRanks.draw(&random))
        case 24..<34: putMovedItem()
        case 34..<46: putRemovedItem()
        case 46..<48: putPlaylist()
        case 48..<58: putChangedPlaylist()
        case 58..<80: putEditedTrack(world.trackRanks.draw(&random))
        case 80: putRemovedTrack(world.trackRanks.draw(&random))
        // Tags are read again.
        default: putTrack(world.trackRanks.draw(&random))
        }
    }

    private mutating func putMovedItem() {
        guard let index = playlist(), let item = playlists[index].items.draw(&random) else {
            return putItem(world.trackRanks.draw(&random))
        }
        begin("music.playlist.track.moved")
        let slot = putNewID("slotId")
        put(#""playlistId":"\#(playlists[index].subject.id)","itemId":"\#(item.id)""#)
        if let neighbour = playlists[index].lastItem {
            put(#","leftSlotId":"\#(neighbour.id)""#)
            playlists[index].lastItem = slot
        }
    }

    private mutating func putRemovedItem() {
        guard let index = playlist(), let item = playlists[index].items.take(&random) else {
            return putItem(world.trackRanks.draw(&random))
        }
        begin("music.playlist.track.removed", "playlistId", playlists[index].subject)
        put(#","itemId":"\#(item.id)""#)
    }

    private mutating func putChangedPlaylist() {
        guard let index = playlist() else { return putPlaylist() }
        let subject = playlists[index].subject
        switch random.below(16) {
        case 0..<8:
            begin("music.playlist.renamed", "playlistId", subject)
            putNote("name", phraseCountMax: 2)
        case 8..<11:
            begin("music.playlist.mode.changed", "playlistId", subject)
            put(#","mode":"album""#)
        case 11..<14:
            begin("music.playlist.cleared", "playlistId", subject)
            playlists[index].items.removeAll()
        default:
            begin("music.playlist.deleted", "playlistId", subject)
            playlists[index].isDeleted = true
        }
    }

    private mutating func putEditedTrack(_ index: Int) {
        guard isTrackKnown[index] else { return putTrack(index) }
        let track = world.tracks[index]
        begin("music.track.edited")
        put(#""trackId":"\#(trackID(index))","#)
        switch random.below(8) {
        case 0, 1:
            let genre = (track.artist + random.below(2)) % Phrases.genres.count
            put(#""genre":"\#(Phrases.genres[genre])""#)
        case 2, 3:
            let more = happens(50) ? "live" : "remastered"
            put(#""title":"\#(Phrases.titles[track.title]) (\#(more))""#)
        case 4: put(#""artistName":"\#(Phrases.artists[track.artist])""#)
        case 5: put(#""trackNo":\#(1 + random.below(18))"#)
        case 6: put(#""year":\#(track.year - random.below(3))"#)
        default: put(#""unset":["composerName"]"#)
        }
    }

    private mutating func putRemovedTrack(_ index: Int) {
        guard isTrackKnown[index] else { return putTrack(index) }
        // It is still there for others, and may be imported again.
        begin("music.track.removed")
        put(#""trackId":"\#(trackID(index))","#)
        put(happens(60) ? #""reason":"file_missing""# : #""reason":"user""#)
    }
}
