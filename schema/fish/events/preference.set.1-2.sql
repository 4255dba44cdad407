SELECT :key AS key, :value AS value;
