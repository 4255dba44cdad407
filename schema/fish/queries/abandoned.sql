-- query abandoned(first DATE = NULL, last DATE = NULL): how assessments ended, and at which step
-- One that was given up and reported all the same is reported.
-- answers (outcome AssessmentState, step AssessmentStep?, assessments INTEGER, share REAL)
WITH o AS (
    SELECT
        CASE
            WHEN EXISTS (
                SELECT 1 FROM report AS r
                WHERE r.assessmentId = a.assessmentId AND r.status <> 'foreign'
            ) THEN 'reported'
            WHEN a.abandonedStep IS NOT NULL THEN 'abandoned'
            ELSE 'open'
        END AS outcome,
        a.abandonedStep
    FROM assessment AS a
    WHERE a.startedOn BETWEEN coalesce(:first, '') AND coalesce(:last, '9999-99')
)
SELECT outcome, iif(outcome = 'abandoned', abandonedStep, NULL) AS step, count(*) AS assessments,
    count(*) * 1.0 / sum(count(*)) OVER () AS share
FROM o
GROUP BY 1, 2
ORDER BY outcome, assessments DESC, step;
