-- query dashboard(user TEXT, day DATE): what was eaten, is left and was burned on a day
WITH p AS (
    SELECT * FROM plan WHERE actor = :user AND effectiveFrom <= :day
    ORDER BY effectiveFrom DESC, stamp DESC LIMIT 1
),
t AS (
    SELECT coalesce(sum(energyMkcal), 0) AS energyMkcal, coalesce(sum(proteinMg), 0) AS proteinMg,
        coalesce(sum(carbMg), 0) AS carbMg, coalesce(sum(fatMg), 0) AS fatMg
    FROM meal_total WHERE actor = :user AND day = :day
)
SELECT t.energyMkcal / 1000.0 AS eatenKcal, p.needMkcal / 1000.0 AS needKcal,
    (p.needMkcal - t.energyMkcal) / 1000.0 AS leftKcal,
    (p.proteinMg - t.proteinMg) / 1000.0 AS proteinLeftG,
    (p.carbMg - t.carbMg) / 1000.0 AS carbLeftG, (p.fatMg - t.fatMg) / 1000.0 AS fatLeftG,
    a.steps, a.activeMkcal / 1000.0 AS burnedKcal
FROM t LEFT JOIN p ON true LEFT JOIN activity AS a ON a.actor = :user AND a.day = :day;
