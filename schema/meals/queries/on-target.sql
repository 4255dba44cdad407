-- query on-target(user TEXT, first DATE, last DATE, percent INTEGER = 10): days near the plan
SELECT count(*) AS days, sum(abs(energyMkcal - needMkcal) * 100 <= needMkcal * :percent) AS near,
    sum(energyMkcal > needMkcal) AS above
FROM (
    SELECT t.day, sum(t.energyMkcal) AS energyMkcal, (
        SELECT needMkcal FROM plan AS p
        WHERE p.actor = :user AND p.effectiveFrom <= t.day
        ORDER BY effectiveFrom DESC, stamp DESC LIMIT 1
    ) AS needMkcal
    FROM meal_total AS t
    WHERE t.actor = :user AND t.entries > 0 AND t.day BETWEEN :first AND :last
    GROUP BY t.day
)
WHERE needMkcal IS NOT NULL;
