-- readmodel plants version 1: how much water each plant got
CREATE TABLE plant (
    plantId TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    light TEXT NOT NULL,
    waterMl INT NOT NULL
) STRICT;

-- on plants.plant.bought
INSERT INTO plant VALUES (:plantId, :name, :light, 0)
ON CONFLICT (plantId) DO NOTHING;

-- on plants.plant.watered
UPDATE plant SET waterMl = waterMl + :amountMl WHERE plantId = :plantId;
