-- query preferences(user TEXT): how a user wants the app
SELECT key, value FROM preference WHERE actor = :user AND value IS NOT NULL ORDER BY key;
