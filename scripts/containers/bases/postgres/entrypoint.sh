#!/usr/bin/env bash
# What the official image promises and this repository uses: root becomes postgres; at the first start the
# data folder is made, and the scripts of /docker-entrypoint-initdb.d run against a server on its socket.
set -Eeuo pipefail

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA" && chown -R postgres "$PGDATA" /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups bash "$0" "$@"
fi

value_of() { # the variable $1, or the file that $1_FILE names, or $2
  local file=${1}_FILE
  if [ -n "${!file:-}" ]; then cat "${!file}"; else echo "${!1:-${2:-}}"; fi
}

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  POSTGRES_USER=$(value_of POSTGRES_USER postgres)
  POSTGRES_DB=$(value_of POSTGRES_DB "$POSTGRES_USER")
  export POSTGRES_USER POSTGRES_DB
  # shellcheck disable=SC2086 # several words
  initdb --username="$POSTGRES_USER" --pwfile=<(value_of POSTGRES_PASSWORD) ${POSTGRES_INITDB_ARGS:-}
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  [ "$POSTGRES_DB" = postgres ] || createdb --username "$POSTGRES_USER" --maintenance-db postgres "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*; do
    case $file in
      *.sh) if [ -x "$file" ]; then "$file"; else . "$file"; fi ;;
      *.sql) psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -f "$file" ;;
    esac
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@"
