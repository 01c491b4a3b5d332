#!/bin/sh
# Runs once, when PostgreSQL makes its data folder: the user that the services log in as. It owns nothing;
# `migrate` lets it become the two roles that everything runs as.
set -eu
psql --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/DATABASE_PASSWORD)" \
  --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'END'
CREATE ROLE cardea_service LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS
  PASSWORD :'password';
END
