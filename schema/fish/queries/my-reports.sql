-- query my-reports(user TEXT, language TEXT = NULL): what a user filed, and where it is
-- The name of the species is in Italian or English: in the language that is given, else in the one
-- that the user prefers. Pending if not all that the user did to it is accepted. A report that was
-- refused counts for nothing; of one that is there, the last change that was refused says why.
-- answers (reportId TEXT, observedOn DATE, species TEXT?, lengthMm REAL?,
--   sizeResult RecordedSizeResult, dateResult DateResult?, town TEXT, status ReportStatus?,
--   review ReviewOutcome?, state EventState, refusedRule RefusalRule?, refusedMessage TEXT?)
-- example user='user-8'
WITH refused AS (
    SELECT type, subject, payload, message, origin, actor,
        iif(
            rule IN (
                'engine-type', 'unknown-type', 'schema', 'invalid', 'actor', 'changed', 'cascade',
                'who', 'base'
            ), rule, 'other'
        ) AS rule,
        max(origin) OVER (PARTITION BY subject) = origin AS isLast
    FROM diario_inbox WHERE type LIKE 'fish.report.%'
), mine AS (
    SELECT r.reportId, r.observedOn, r.speciesId, r.lengthUm, r.sizeResult, r.dateResult, r.placeId,
        r.status, r.review, event_state(r.lastOrigin) AS state, f.rule, f.message, r.stamp
    FROM report AS r
    LEFT JOIN refused AS f ON f.subject = r.reportId AND f.isLast
    WHERE r.actor = :user
    UNION ALL
    SELECT coalesce(subject, origin), payload ->> 'observedOn', payload ->> 'speciesId',
        payload ->> 'lengthUm',
        CASE payload ->> 'sizeResult'
            WHEN 'borderline' THEN 'unknown' ELSE payload ->> 'sizeResult'
        END,
        payload ->> 'dateResult', payload ->> 'placeId', NULL, NULL, 'refused', rule, message, NULL
    FROM refused
    WHERE type = 'fish.report.filed' AND actor IS :user AND payload IS NOT NULL
        AND NOT EXISTS (
            SELECT 1 FROM report AS r WHERE r.reportId = refused.subject AND r.actor = :user
        )
)
SELECT r.reportId, r.observedOn,
    iif(
        coalesce(
            :language, (SELECT value FROM preference WHERE actor = :user AND key = 'language'), 'en'
        ) || '-' LIKE 'it-%', s.nameIt, coalesce(s.nameEn, s.nameIt)
    ) AS species,
    r.lengthUm / 1000.0 AS lengthMm, r.sizeResult, r.dateResult,
    coalesce(p.name || ' (' || m.name || ')', p.name, r.placeId) AS town, r.status, r.review,
    r.state, r.rule AS refusedRule, r.message AS refusedMessage
FROM mine AS r
LEFT JOIN species AS s USING (speciesId)
LEFT JOIN place AS p USING (placeId)
LEFT JOIN place AS m ON m.placeId = p.parentId
ORDER BY r.observedOn DESC, r.stamp DESC;
