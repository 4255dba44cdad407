-- readmodel visits version 2: what visitors wrote about places, and how these are rated
CREATE TABLE visit (
    placeId TEXT NOT NULL,
    origin TEXT NOT NULL,
    actor TEXT NOT NULL,
    day TEXT NOT NULL,
    rating INT,
    contact TEXT,
    note TEXT,
    at INT NOT NULL,
    PRIMARY KEY (placeId, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX visit_user ON visit (actor, day);

-- The last rating of each visitor.
CREATE TABLE rating (
    placeId TEXT NOT NULL,
    actor TEXT NOT NULL,
    rating INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (placeId, actor)
) STRICT, WITHOUT ROWID;

CREATE VIEW place_rating AS
SELECT placeId, count(*) AS visitors, sum(rating) AS stars FROM rating GROUP BY placeId;

-- on maps.visit.noted
INSERT INTO visit VALUES (
    :placeId, :_origin, coalesce(:_actor, '-'), :day, :rating, :contact, :note, :_at
)
ON CONFLICT (placeId, origin) DO NOTHING;
INSERT INTO rating
SELECT :placeId, coalesce(:_actor, '-'), :rating, :_stamp
WHERE :rating IS NOT NULL
ON CONFLICT (placeId, actor) DO UPDATE
SET rating = excluded.rating, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
