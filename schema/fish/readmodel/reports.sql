-- readmodel reports version 4: reports as they stand, reviews, and whether each of them counts
CREATE TABLE report (
    reportId TEXT NOT NULL PRIMARY KEY,
    assessmentId TEXT,
    actor TEXT NOT NULL,
    speciesId TEXT NOT NULL,
    placeId TEXT NOT NULL,
    observedOn TEXT NOT NULL,
    lengthUm INT NOT NULL,
    sigmaUm INT,
    method TEXT NOT NULL,
    referenceId TEXT,
    minSizeUm INT,
    minSizeKind TEXT NOT NULL,
    seasonMask INT,
    zoneId TEXT,
    sizeResult TEXT NOT NULL,
    isBorderline INT NOT NULL,
    dateResult TEXT NOT NULL,
    applicability TEXT NOT NULL,
    origin TEXT NOT NULL,
    production TEXT NOT NULL,
    source TEXT NOT NULL,
    boughtOn TEXT,
    boughtPlaceId TEXT,
    photoId TEXT,
    consentPhoto INT,
    note TEXT,
    latE7 INT,
    lonE7 INT,
    -- Reports of version 1 do not say what they were judged by.
    version INT NOT NULL,
    -- Whether the last of its withdrawals and restorations took it back.
    isWithdrawn INT NOT NULL,
    reason TEXT,
    withdrawalStamp BLOB,
    -- What the last review said, and the last length that a review gave.
    review TEXT,
    remeasuredUm INT,
    -- Only what is counted is in the sums. The others are foreign, withdrawn, duplicate, rejected
    -- or inconsistent: the first of these that is true.
    status TEXT NOT NULL,
    at INT NOT NULL,
    stamp BLOB NOT NULL,
    -- The day after the last of its events, in UTC: none of its days is later.
    dayMax TEXT NOT NULL,
    -- The last event about it by whoever filed it: what is not accepted yet comes last.
    lastOrigin TEXT NOT NULL,
    -- The answers that follow from what is stored, and whether they are those that are stored.
    sizeFollowing TEXT AS (
        CASE
            WHEN minSizeKind = 'none' THEN iif(minSizeUm IS NULL, 'not_required', NULL)
            WHEN minSizeUm IS NULL THEN NULL
            WHEN lengthUm >= minSizeUm THEN 'ok'
            WHEN minSizeKind = 'recommended' THEN 'below_recommended'
            WHEN minSizeKind = 'legal' THEN 'undersize'
        END
    ),
    dateFollowing TEXT AS (
        CASE (seasonMask >> (substr(observedOn, 6, 2) - 1)) & 1
            WHEN 1 THEN 'reproducing' WHEN 0 THEN 'in_season'
        END
    ),
    follows INT AS (
        iif(
            minSizeUm IS NULL AND minSizeKind <> 'none', version = 1,
            sizeResult IS sizeFollowing
        ) AND iif(seasonMask IS NULL, version = 1, dateResult IS dateFollowing)
    )
) STRICT, WITHOUT ROWID;

CREATE INDEX report_actor ON report (actor, observedOn);
CREATE INDEX report_observed ON report (observedOn);
CREATE INDEX report_assessment ON report (assessmentId, stamp);

-- All that sums need, so that they read nothing else.
CREATE INDEX report_status ON report (
    status, speciesId, observedOn, placeId, sizeResult, dateResult, lengthUm, minSizeUm, sigmaUm,
    isBorderline, method, referenceId, origin, production, zoneId, review, remeasuredUm
);

CREATE VIEW counted AS SELECT * FROM report WHERE status = 'counted';

-- Who began each assessment, and so may report it.
CREATE TABLE owner (
    assessmentId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a report was of, before an older one with its id came.
CREATE TABLE replaced (
    reportId TEXT NOT NULL,
    assessmentId TEXT NOT NULL,
    PRIMARY KEY (reportId, assessmentId)
) STRICT, WITHOUT ROWID;

-- What is in the catalogue, and the rules for reports that are amended.
CREATE TABLE known (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE known_minimum (
    speciesId TEXT NOT NULL,
    validFrom TEXT NOT NULL,
    minSizeKind TEXT NOT NULL,
    minSizeUm INT,
    stamp BLOB NOT NULL,
    PRIMARY KEY (speciesId, validFrom)
) STRICT, WITHOUT ROWID;

CREATE TABLE known_season (
    speciesId TEXT NOT NULL,
    zoneId TEXT NOT NULL,
    validFrom TEXT NOT NULL,
    seasonMask INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (speciesId, zoneId, validFrom)
) STRICT, WITHOUT ROWID;

-- What cannot be true of a report, whoever wrote it; NULL if all can.
CREATE VIEW contradiction AS
SELECT r.reportId,
    CASE
        WHEN NOT EXISTS (
            SELECT 1 FROM known AS k WHERE k.kind = 'species' AND k.id = r.speciesId
        ) THEN 'species'
        WHEN NOT EXISTS (SELECT 1 FROM known AS k WHERE k.kind = 'place' AND k.id = r.placeId)
            OR r.boughtPlaceId IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM known AS k WHERE k.kind = 'place' AND k.id = r.boughtPlaceId
            ) THEN 'place'
        WHEN r.referenceId IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM known AS k WHERE k.kind = 'reference' AND k.id = r.referenceId
        ) THEN 'reference'
        WHEN r.observedOn NOT BETWEEN '1970-01-01' AND r.dayMax
            OR r.boughtOn NOT BETWEEN '1970-01-01' AND r.dayMax THEN 'day'
        WHEN NOT r.follows THEN 'answers'
    END AS what
FROM report AS r;

-- The status of each report as it follows from the rest. What nobody owns is everybody's to report.
-- Two devices may file one assessment: the report filed first counts, unless it is withdrawn or of
-- somebody else.
CREATE VIEW standing AS
SELECT r.reportId,
    CASE
        WHEN EXISTS (
            SELECT 1 FROM owner AS w
            WHERE w.assessmentId = r.assessmentId AND w.actor NOT IN ('-', r.actor)
        ) THEN 'foreign'
        WHEN r.isWithdrawn THEN 'withdrawn'
        WHEN EXISTS (
            SELECT 1 FROM report AS o
            WHERE o.assessmentId = r.assessmentId AND o.stamp < r.stamp AND o.isWithdrawn = 0
                AND NOT EXISTS (
                    SELECT 1 FROM owner AS w
                    WHERE w.assessmentId = o.assessmentId AND w.actor NOT IN ('-', o.actor)
                )
        ) THEN 'duplicate'
        WHEN r.review = 'rejected' THEN 'rejected'
        WHEN (SELECT max(c.what) FROM contradiction AS c WHERE c.reportId = r.reportId)
            IS NOT NULL THEN 'inconsistent'
        ELSE 'counted'
    END AS status
FROM report AS r;

-- A field that can be amended has a stamp of its own: two corrections of two fields both hold.
-- 'rule', 'answers' and 'applies' are there once an amendment of version 3 or later changed what
-- they follow from: nobody says them any more.
CREATE TABLE amendment (
    reportId TEXT NOT NULL,
    field TEXT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (reportId, field)
) STRICT, WITHOUT ROWID;

-- All that researchers said.
CREATE TABLE review (
    reportId TEXT NOT NULL,
    origin TEXT NOT NULL,
    actor TEXT NOT NULL,
    outcome TEXT NOT NULL,
    remeasuredUm INT,
    note TEXT,
    at INT NOT NULL,
    stamp BLOB NOT NULL,
    PRIMARY KEY (reportId, origin)
) STRICT, WITHOUT ROWID;

-- The rows that came from files, so that each comes once: equal ones of a day are counted.
CREATE TABLE import_row (
    rowSha256 BLOB NOT NULL,
    observedOn TEXT NOT NULL,
    ordinal INT NOT NULL,
    reportId TEXT NOT NULL,
    importId TEXT NOT NULL,
    line INT,
    idFish TEXT,
    fishName TEXT,
    detectedSize TEXT,
    eligibilitySize TEXT,
    eligibilityDate TEXT,
    origin TEXT,
    production TEXT,
    townReport TEXT,
    PRIMARY KEY (rowSha256, observedOn, ordinal)
) STRICT, WITHOUT ROWID;

CREATE INDEX import_row_line ON import_row (importId, line);

-- on fish.species.defined
INSERT INTO known VALUES ('species', :speciesId)
ON CONFLICT (kind, id) DO NOTHING;
INSERT INTO known_minimum VALUES (
    :speciesId, coalesce(:validFrom, ''), :minSizeKind, :minSizeUm, :_stamp
)
ON CONFLICT (speciesId, validFrom) DO UPDATE
SET minSizeKind = excluded.minSizeKind, minSizeUm = excluded.minSizeUm, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
INSERT INTO known_season VALUES (:speciesId, '*', coalesce(:validFrom, ''), :seasonMask, :_stamp)
ON CONFLICT (speciesId, zoneId, validFrom) DO UPDATE
SET seasonMask = excluded.seasonMask, stamp = excluded.stamp
WHERE excluded.stamp > stamp;
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE status = 'inconsistent' AND speciesId = :speciesId;

-- on fish.season.set
INSERT INTO known_season VALUES (:speciesId, :zoneId, :validFrom, :seasonMask, :_stamp)
ON CONFLICT (speciesId, zoneId, validFrom) DO UPDATE
SET seasonMask = excluded.seasonMask, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on fish.place.defined
INSERT INTO known VALUES ('place', :placeId)
ON CONFLICT (kind, id) DO NOTHING;
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE status = 'inconsistent' AND placeId = :placeId
    OR status = 'inconsistent' AND boughtPlaceId = :placeId;

-- on fish.reference.defined
INSERT INTO known VALUES ('reference', :referenceId)
ON CONFLICT (kind, id) DO NOTHING;
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE status = 'inconsistent' AND referenceId = :referenceId;

-- on fish.report.filed
INSERT INTO replaced
SELECT reportId, assessmentId FROM report
WHERE reportId = :reportId AND assessmentId IS NOT NULL AND stamp > :_stamp
ON CONFLICT (reportId, assessmentId) DO NOTHING;
-- Of two reports with one id the older one counts, with what was amended of either.
UPDATE report
SET assessmentId = :assessmentId, actor = coalesce(:_actor, '-'),
    speciesId = iif(a.isSpecies, speciesId, :speciesId),
    placeId = iif(a.isPlace, placeId, :placeId),
    observedOn = iif(a.isObserved, observedOn, :observedOn),
    lengthUm = iif(a.isLength, lengthUm, :lengthUm),
    sigmaUm = iif(a.isLength, sigmaUm, :sigmaUm),
    method = iif(a.isMethod, method, :method),
    referenceId = iif(a.isMethod, referenceId, :referenceId),
    minSizeKind = iif(a.isMinimum, minSizeKind, :minSizeKind),
    minSizeUm = iif(a.isMinimum, minSizeUm, :minSizeUm),
    seasonMask = iif(a.isSeason, seasonMask, :seasonMask),
    zoneId = iif(a.isSeason, zoneId, :zoneId),
    sizeResult = iif(a.isSize, sizeResult, :sizeResult),
    isBorderline = iif(a.isSize, isBorderline, :isBorderline),
    dateResult = iif(a.isDate, dateResult, :dateResult),
    applicability = iif(a.isApplicability, applicability, :applicability),
    origin = iif(a.isOrigin, origin, :origin),
    production = iif(a.isProduction, production, :production),
    boughtOn = iif(a.isBought, boughtOn, :boughtOn),
    boughtPlaceId = iif(a.isBoughtPlace, boughtPlaceId, :boughtPlaceId),
    source = :source, photoId = :photoId, consentPhoto = :consentPhoto, note = :note,
    latE7 = :latE7, lonE7 = :lonE7, version = :_version, at = :_at, stamp = :_stamp
FROM (
    SELECT max(field = 'species') AS isSpecies, max(field = 'place') AS isPlace,
        max(field = 'observed') AS isObserved, max(field = 'length') AS isLength,
        max(field = 'method') AS isMethod, max(field = 'minimum') AS isMinimum,
        max(field = 'season') AS isSeason, max(field = 'size') AS isSize,
        max(field = 'date') AS isDate, max(field = 'applicability') AS isApplicability,
        max(field = 'origin') AS isOrigin, max(field = 'production') AS isProduction,
        max(field = 'bought') AS isBought, max(field = 'boughtPlace') AS isBoughtPlace
    FROM amendment WHERE reportId = :reportId
) AS a
WHERE report.reportId = :reportId AND report.stamp > :_stamp;
INSERT INTO report VALUES (
    :reportId, :assessmentId, coalesce(:_actor, '-'), :speciesId, :placeId, :observedOn, :lengthUm,
    :sigmaUm, :method, :referenceId, :minSizeUm, :minSizeKind, :seasonMask, :zoneId, :sizeResult,
    :isBorderline, :dateResult, :applicability, :origin, :production, :source, :boughtOn,
    :boughtPlaceId, :photoId, :consentPhoto, :note, :latE7, :lonE7, :_version, 0, NULL, NULL, NULL,
    NULL, 'counted', :_at, :_stamp, day_add(day_of(:_clock / 65536, 0), 1), :_origin
)
ON CONFLICT (reportId) DO UPDATE
SET dayMax = max(dayMax, excluded.dayMax), lastOrigin = excluded.lastOrigin;

-- on fish.report.withdrawn
-- While it is withdrawn, the first withdrawal gives the reason.
UPDATE report
SET reason = iif(isWithdrawn, reason, :reason), isWithdrawn = 1, withdrawalStamp = :_stamp
WHERE reportId = :reportId AND (withdrawalStamp IS NULL OR withdrawalStamp < :_stamp);

-- on fish.report.restored
UPDATE report SET reason = NULL, isWithdrawn = 0, withdrawalStamp = :_stamp
WHERE reportId = :reportId AND (withdrawalStamp IS NULL OR withdrawalStamp < :_stamp);

-- on fish.report.amended
INSERT INTO amendment
SELECT :reportId, f.field, :_stamp
FROM (
    SELECT 'species' AS field, :speciesId AS value
    UNION ALL SELECT 'place', :placeId
    UNION ALL SELECT 'observed', :observedOn
    UNION ALL SELECT 'length', :lengthUm
    UNION ALL SELECT 'method', iif(:_version < 3, :method, :lengthUm)
    UNION ALL SELECT 'minimum', iif(:_version < 3, :minSizeKind, NULL)
    UNION ALL SELECT 'season', iif(:_version < 3, :seasonMask, NULL)
    UNION ALL SELECT 'size', iif(:_version < 3, :sizeResult, NULL)
    UNION ALL SELECT 'date', iif(:_version < 3, :dateResult, NULL)
    UNION ALL SELECT 'applicability', iif(:_version < 3, :applicability, NULL)
    UNION ALL SELECT 'origin', :origin
    UNION ALL SELECT 'production', :production
    UNION ALL SELECT 'bought', :boughtOn
    UNION ALL SELECT 'boughtPlace', :boughtPlaceId
    UNION ALL SELECT 'rule', iif(:_version < 3, NULL, coalesce(:speciesId, :observedOn))
    UNION ALL SELECT 'answers',
        iif(:_version < 3, NULL, coalesce(:speciesId, :observedOn, :lengthUm))
    UNION ALL SELECT 'applies', iif(:_version < 3, NULL, coalesce(:origin, :production))
) AS f
WHERE f.value IS NOT NULL
ON CONFLICT (reportId, field) DO UPDATE SET stamp = excluded.stamp
WHERE excluded.stamp > stamp;
UPDATE report
SET speciesId = iif(a.isSpecies, :speciesId, speciesId),
    placeId = iif(a.isPlace, :placeId, placeId),
    observedOn = iif(a.isObserved, :observedOn, observedOn),
    lengthUm = iif(a.isLength, :lengthUm, lengthUm),
    sigmaUm = iif(a.isLength, :sigmaUm, sigmaUm),
    method = iif(a.isMethod, coalesce(:method, 'ruler'), method),
    referenceId = iif(a.isMethod, iif(:method IS NULL, NULL, :referenceId), referenceId),
    minSizeKind = iif(a.isMinimum, :minSizeKind, minSizeKind),
    minSizeUm = iif(a.isMinimum, :minSizeUm, minSizeUm),
    seasonMask = iif(a.isSeason, :seasonMask, seasonMask),
    zoneId = iif(a.isSeason, :zoneId, zoneId),
    sizeResult = iif(a.isSize, :sizeResult, sizeResult),
    isBorderline = iif(a.isSize, coalesce(:isBorderline, 0), isBorderline),
    dateResult = iif(a.isDate, :dateResult, dateResult),
    applicability = iif(a.isApplicability, :applicability, applicability),
    origin = iif(a.isOrigin, :origin, origin),
    production = iif(a.isProduction, :production, production),
    boughtOn = iif(a.isBought, :boughtOn, boughtOn),
    boughtPlaceId = iif(a.isBoughtPlace, :boughtPlaceId, boughtPlaceId),
    dayMax = max(dayMax, day_add(day_of(:_clock / 65536, 0), 1)), lastOrigin = :_origin
FROM (
    SELECT max(field = 'species') AS isSpecies, max(field = 'place') AS isPlace,
        max(field = 'observed') AS isObserved, max(field = 'length') AS isLength,
        max(field = 'method') AS isMethod, max(field = 'minimum') AS isMinimum,
        max(field = 'season') AS isSeason, max(field = 'size') AS isSize,
        max(field = 'date') AS isDate, max(field = 'applicability') AS isApplicability,
        max(field = 'origin') AS isOrigin, max(field = 'production') AS isProduction,
        max(field = 'bought') AS isBought, max(field = 'boughtPlace') AS isBoughtPlace
    FROM amendment WHERE reportId = :reportId AND stamp = :_stamp
) AS a
WHERE report.reportId = :reportId;

-- on fish.report.filed, fish.report.amended
-- The rule of another species or day is that of the catalogue as it is here in the log.
UPDATE report
SET minSizeKind = coalesce(
        (
            SELECT m.minSizeKind FROM known_minimum AS m
            WHERE m.speciesId = report.speciesId AND m.validFrom = (
                SELECT max(n.validFrom) FROM known_minimum AS n
                WHERE n.speciesId = report.speciesId AND n.validFrom <= report.observedOn
            )
        ),
        'unknown'
    ),
    minSizeUm = (
        SELECT m.minSizeUm FROM known_minimum AS m
        WHERE m.speciesId = report.speciesId AND m.validFrom = (
            SELECT max(n.validFrom) FROM known_minimum AS n
            WHERE n.speciesId = report.speciesId AND n.validFrom <= report.observedOn
        )
    ),
    seasonMask = coalesce(
        (
            SELECT e.seasonMask FROM known_season AS e
            WHERE e.speciesId = report.speciesId AND e.zoneId = report.zoneId AND e.validFrom = (
                SELECT max(n.validFrom) FROM known_season AS n
                WHERE n.speciesId = report.speciesId AND n.zoneId = report.zoneId
                    AND n.validFrom <= report.observedOn
            )
        ),
        (
            SELECT e.seasonMask FROM known_season AS e
            WHERE e.speciesId = report.speciesId AND e.zoneId = '*' AND e.validFrom = (
                SELECT max(n.validFrom) FROM known_season AS n
                WHERE n.speciesId = report.speciesId AND n.zoneId = '*'
                    AND n.validFrom <= report.observedOn
            )
        )
    )
WHERE reportId = :reportId
    AND EXISTS (SELECT 1 FROM amendment WHERE reportId = :reportId AND field = 'rule')
    AND (
        stamp = :_stamp OR EXISTS (
            SELECT 1 FROM amendment
            WHERE reportId = :reportId AND stamp = :_stamp
                AND field IN ('species', 'observed', 'rule')
        )
    );
UPDATE report
SET sizeResult = coalesce(sizeFollowing, 'unknown'),
    isBorderline = coalesce((abs(lengthUm - minSizeUm) + 1) / 2 <= nullif(sigmaUm, 0), 0),
    dateResult = coalesce(dateFollowing, dateResult)
WHERE reportId = :reportId
    AND EXISTS (SELECT 1 FROM amendment WHERE reportId = :reportId AND field = 'answers');
UPDATE report
SET applicability = CASE
        WHEN production = 'farmed' THEN 'informative'
        WHEN origin = 'other' THEN 'size_only'
        ELSE 'full'
    END
WHERE reportId = :reportId
    AND EXISTS (SELECT 1 FROM amendment WHERE reportId = :reportId AND field = 'applies');

-- on fish.report.withdrawn, fish.report.restored
UPDATE report SET lastOrigin = :_origin WHERE reportId = :reportId;

-- on fish.report.reviewed
INSERT INTO review VALUES (
    :reportId, :_origin, coalesce(:_actor, '-'), :outcome, :remeasuredUm, :note, :_at, :_stamp
)
ON CONFLICT (reportId, origin) DO NOTHING;
-- A stamp has 48 digits; what follows the highest one is what was said last.
UPDATE report
SET review = (
        SELECT substr(max(hex(stamp) || outcome), 49) FROM review WHERE reportId = :reportId
    ),
    remeasuredUm = (
        SELECT CAST(substr(max(hex(stamp) || remeasuredUm), 49) AS INTEGER)
        FROM review WHERE reportId = :reportId
    )
WHERE reportId = :reportId;

-- on fish.assessment.started
INSERT INTO owner VALUES (:assessmentId, coalesce(:_actor, '-'))
ON CONFLICT (assessmentId) DO NOTHING;
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE assessmentId = :assessmentId;

-- on fish.report.filed, fish.report.withdrawn, fish.report.restored
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE reportId = :reportId
    OR assessmentId = (SELECT assessmentId FROM report WHERE reportId = :reportId);

-- on fish.report.amended, fish.report.reviewed
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE reportId = :reportId
    OR assessmentId = (SELECT assessmentId FROM report WHERE reportId = :reportId);

-- on fish.report.filed
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE assessmentId IN (SELECT assessmentId FROM replaced WHERE reportId = :reportId);

-- on fish.report.imported
INSERT INTO import_row VALUES (
    :rowSha256,
    coalesce(
        :observedOn, (SELECT observedOn FROM report WHERE reportId = :reportId), ''
    ),
    :ordinal, :reportId, :importId, :line, :idFish, :fishName, :detectedSize, :eligibilitySize,
    :eligibilityDate, :origin, :production, :townReport
)
ON CONFLICT (rowSha256, observedOn, ordinal) DO NOTHING;
