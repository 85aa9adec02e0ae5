-- The roles and the schema of a queue, run once by a superuser in its database:
--
--   createdb push && psql --dbname=push --file=deploy/cluster/roles.sql
--   psql --dbname=push --command='\password attachprep'
--   attachprep jobs migrate --queue 'postgres://attachprep_owner@db1/push?sslmode=verify-full'
--
-- The owner makes and changes the tables (`attachprep jobs migrate`, at each upgrade that says so). Services and workers
-- use the role attachprep, which reads and writes rows and may do nothing else.

CREATE ROLE attachprep_owner LOGIN;
CREATE ROLE attachprep LOGIN;

CREATE SCHEMA attachprep AUTHORIZATION attachprep_owner;
GRANT USAGE ON SCHEMA attachprep TO attachprep;
ALTER DEFAULT PRIVILEGES FOR ROLE attachprep_owner IN SCHEMA attachprep
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO attachprep;
ALTER DEFAULT PRIVILEGES FOR ROLE attachprep_owner IN SCHEMA attachprep
    GRANT USAGE ON SEQUENCES TO attachprep;

-- For `attachprep doctor` and the metric of the oldest transaction: the ages of transactions of other roles.
GRANT pg_read_all_stats TO attachprep;
