-- query preferences(user TEXT): how a user wants the app
-- answers (key PreferenceKey, value TEXT)
-- example user='user-17'
SELECT key, value FROM preference WHERE actor = :user AND value IS NOT NULL ORDER BY key;
