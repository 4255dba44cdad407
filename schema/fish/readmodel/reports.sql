-- readmodel reports version 3: reports as they stand, reviews, and whether each of them counts
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
    isWithdrawn INT NOT NULL,
    reason TEXT,
    -- What the last review said, and the last length that a review gave.
    review TEXT,
    remeasuredUm INT,
    -- Only what is counted is in the sums. The others are foreign, withdrawn, duplicate, rejected
    -- or inconsistent: the first of these that is true.
    status TEXT NOT NULL,
    at INT NOT NULL,
    stamp BLOB NOT NULL,
    -- The answers that follow from what is stored, and whether they are those that are stored.
    sizeFollowing TEXT AS (
        CASE
            WHEN minSizeKind = 'none' THEN iif(minSizeUm IS NULL, 'not_required', NULL)
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
        WHEN NOT r.follows THEN 'inconsistent'
        ELSE 'counted'
    END AS status
FROM report AS r;

-- A field that can be amended has a stamp of its own: two corrections of two fields both hold.
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

-- The rows that came from files, so that each comes once.
CREATE TABLE import_row (
    rowSha256 BLOB NOT NULL PRIMARY KEY,
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
    townReport TEXT
) STRICT, WITHOUT ROWID;

-- on fish.report.filed
INSERT INTO report VALUES (
    :reportId, :assessmentId, coalesce(:_actor, '-'), :speciesId, :placeId, :observedOn, :lengthUm,
    :sigmaUm, :method, :referenceId, :minSizeUm, :minSizeKind, :seasonMask, :zoneId, :sizeResult,
    :isBorderline, :dateResult, :applicability, :origin, :production, :source, :boughtOn,
    :boughtPlaceId, :photoId, :consentPhoto, :note, :latE7, :lonE7, :_version, 0, NULL, NULL,
    NULL, 'counted', :_at, :_stamp
)
ON CONFLICT (reportId) DO NOTHING;

-- on fish.report.withdrawn
-- It counts no more, whatever else is done to it; the first withdrawal gives the reason.
UPDATE report SET isWithdrawn = 1, reason = :reason
WHERE reportId = :reportId AND isWithdrawn = 0;

-- on fish.report.amended
INSERT INTO amendment
SELECT :reportId, f.field, :_stamp
FROM (
    SELECT 'species' AS field, :speciesId AS value
    UNION ALL SELECT 'place', :placeId
    UNION ALL SELECT 'observed', :observedOn
    UNION ALL SELECT 'length', :lengthUm
    UNION ALL SELECT 'method', :method
    UNION ALL SELECT 'minimum', :minSizeKind
    UNION ALL SELECT 'season', :seasonMask
    UNION ALL SELECT 'size', :sizeResult
    UNION ALL SELECT 'date', :dateResult
    UNION ALL SELECT 'applicability', :applicability
    UNION ALL SELECT 'origin', :origin
    UNION ALL SELECT 'production', :production
    UNION ALL SELECT 'bought', :boughtOn
    UNION ALL SELECT 'boughtPlace', :boughtPlaceId
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
    method = iif(a.isMethod, :method, method),
    referenceId = iif(a.isMethod, :referenceId, referenceId),
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
    boughtPlaceId = iif(a.isBoughtPlace, :boughtPlaceId, boughtPlaceId)
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

-- on fish.report.filed, fish.report.withdrawn, fish.report.amended, fish.report.reviewed
-- derived
UPDATE report
SET status = (SELECT max(s.status) FROM standing AS s WHERE s.reportId = report.reportId)
WHERE reportId = :reportId
    OR assessmentId = (SELECT assessmentId FROM report WHERE reportId = :reportId);

-- on fish.report.imported
INSERT INTO import_row VALUES (
    :rowSha256, :reportId, :importId, :line, :idFish, :fishName, :detectedSize, :eligibilitySize,
    :eligibilityDate, :origin, :production, :townReport
)
ON CONFLICT (rowSha256) DO NOTHING;
