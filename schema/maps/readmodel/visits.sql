-- readmodel visits version 1: what visitors wrote about places, and how these are rated
CREATE TABLE visit (
    placeId TEXT NOT NULL,
    origin TEXT NOT NULL,
    user TEXT NOT NULL,
    day TEXT NOT NULL,
    rating INT,
    contact TEXT,
    note TEXT,
    at INT NOT NULL,
    PRIMARY KEY (placeId, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX visit_user ON visit (user, day);

-- The last rating of each visitor; the sums hold one for each.
CREATE TABLE rating (
    placeId TEXT NOT NULL,
    user TEXT NOT NULL,
    rating INT NOT NULL,
    clock INT NOT NULL,
    replica TEXT NOT NULL,
    sequence INT NOT NULL,
    PRIMARY KEY (placeId, user)
) STRICT, WITHOUT ROWID;

CREATE TABLE place_rating (
    placeId TEXT NOT NULL PRIMARY KEY,
    visitors INT NOT NULL,
    stars INT NOT NULL
) STRICT, WITHOUT ROWID;

-- on maps.visit.noted
INSERT INTO visit VALUES (
    :placeId, :_origin, coalesce(:_actor, :_replica), :day, :rating, :contact, :note, :_at
)
ON CONFLICT (placeId, origin) DO NOTHING;
-- The sums lose the visitor's rating as it was ...
INSERT INTO place_rating
SELECT placeId, -1, -rating FROM rating
WHERE placeId = :placeId AND user = coalesce(:_actor, :_replica)
ON CONFLICT (placeId) DO UPDATE
SET visitors = visitors + excluded.visitors, stars = stars + excluded.stars;
INSERT INTO rating
SELECT :placeId, coalesce(:_actor, :_replica), :rating, :_clock, :_replica, :_sequence
WHERE :rating IS NOT NULL
ON CONFLICT (placeId, user) DO UPDATE
SET rating = excluded.rating,
    clock = excluded.clock, replica = excluded.replica, sequence = excluded.sequence
WHERE (excluded.clock, excluded.replica, excluded.sequence) > (clock, replica, sequence);
-- ... and get it as it is.
INSERT INTO place_rating
SELECT placeId, 1, rating FROM rating
WHERE placeId = :placeId AND user = coalesce(:_actor, :_replica)
ON CONFLICT (placeId) DO UPDATE
SET visitors = visitors + excluded.visitors, stars = stars + excluded.stars;
