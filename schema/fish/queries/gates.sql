-- query gates(): how level devices were held, and how often that kept a photo from being taken
-- answers (gate Gate?, result TEXT, captures INTEGER)
SELECT gate, 'blocked' AS result, sum(count) AS captures FROM blocked_capture GROUP BY gate
UNION ALL
SELECT gate, gateResult, count(*) FROM photo GROUP BY gate, gateResult
ORDER BY gate, result;
