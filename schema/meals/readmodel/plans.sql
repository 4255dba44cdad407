-- readmodel plans version 2: what each user wants to reach, and the daily plans they accepted
CREATE TABLE weight_goal (
    actor TEXT NOT NULL PRIMARY KEY,
    targetG INT,
    isOverride INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pace_goal (
    actor TEXT NOT NULL PRIMARY KEY,
    pace TEXT NOT NULL,
    isOverride INT NOT NULL,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- All plans stay: the days before a new one keep the plan that held then.
CREATE TABLE plan (
    planId TEXT NOT NULL PRIMARY KEY,
    actor TEXT NOT NULL,
    effectiveFrom TEXT NOT NULL,
    formula TEXT NOT NULL,
    inputs TEXT,
    bmiMilli INT,
    bmrMkcal INT,
    tdeeMkcal INT,
    deficitMkcal INT,
    needMkcal INT,
    proteinMg INT,
    carbMg INT,
    fatMg INT,
    days INT,
    stamp BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX plan_from ON plan (actor, effectiveFrom, stamp);

-- on meals.goal.weight.set
INSERT INTO weight_goal VALUES (coalesce(:_actor, '-'), :targetG, :override, :_stamp)
ON CONFLICT (actor) DO UPDATE
SET targetG = excluded.targetG, isOverride = excluded.isOverride, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on meals.goal.pace.set
INSERT INTO pace_goal VALUES (coalesce(:_actor, '-'), :pace, :override, :_stamp)
ON CONFLICT (actor) DO UPDATE
SET pace = excluded.pace, isOverride = excluded.isOverride, stamp = excluded.stamp
WHERE excluded.stamp > stamp;

-- on meals.plan.confirmed
INSERT INTO plan VALUES (
    :planId, coalesce(:_actor, '-'), :effectiveFrom, :formula, :inputs,
    json_extract(:outputs, '$.bmiMilli'), json_extract(:outputs, '$.bmrMkcal'),
    json_extract(:outputs, '$.tdeeMkcal'), json_extract(:outputs, '$.deficitMkcal'),
    json_extract(:outputs, '$.needMkcal'), json_extract(:outputs, '$.proteinMg'),
    json_extract(:outputs, '$.carbMg'), json_extract(:outputs, '$.fatMg'),
    json_extract(:outputs, '$.days'), :_stamp
)
ON CONFLICT (planId) DO NOTHING;
