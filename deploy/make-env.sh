#!/bin/sh
# Writes what docker compose starts with: .env, and beside it the folder .secrets with a file for each secret,
# readable by you alone. What is there already stays as it is, for data may be encrypted under it.
#   deploy/make-env.sh [FILE]
set -eu
umask 077

target=${1:-$(cd -- "$(dirname -- "$0")/.." && pwd)/.env}
folder=$(dirname -- "$target")/.secrets
draft=$target.new.$$
made=
cleanup() {
  rm -f -- "$draft"
  [ -z "$made" ] || rm -rf -- "$folder"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# $1 random bytes in hexadecimal digits: of a length that is checked, for a secret must not come out short.
random_hex() {
  digits=$(LC_ALL=C od -An -v -N "$1" -tx1 /dev/urandom | tr -d ' \n')
  [ "${#digits}" -eq $(($1 * 2)) ] || {
    echo "No randomness to be had from /dev/urandom." >&2
    exit 1
  }
  echo "$digits"
}

# $1 its name, $2 its text. Users of containers read it, who are not its owner; the folder keeps others out.
secret() {
  printf '%s' "$2" >"$folder/$1"
  chmod 444 "$folder/$1"
}

for each in "$target" "$folder"; do
  if [ -e "$each" ] || [ -L "$each" ]; then
    echo "$each exists; nothing was written." >&2
    exit 1
  fi
done

# The same in every deployment.
admin_tenant=1e36ea5c-1818-5de0-87a6-16b28398c877

# Of two runs at once, one makes the folder.
mkdir -- "$folder"
made=yes
postgres_password=$(random_hex 24)
database_password=$(random_hex 24)
redis_password=$(random_hex 24)
# Empty: not set.
for name in JWT_SECRET_PREVIOUS ENCRYPTION_KEY_PREVIOUS KAFKA_PASSWORD; do secret "$name" ''; done
secret JWT_SECRET "$(random_hex 32)"
secret ENCRYPTION_KEY "$(random_hex 32)"
secret ADMIN_PASSWORD "$(random_hex 12)"
secret GRAFANA_PASSWORD "$(random_hex 12)"
# Of the servers in docker-compose.yml: the owner of the tables, the user of the services, the cache.
secret POSTGRES_PASSWORD "$postgres_password"
secret DATABASE_PASSWORD "$database_password"
secret REDIS_PASSWORD "$redis_password"
secret MIGRATION_DATABASE_URL "postgres://cardea:$postgres_password@postgres:5432/cardea"
secret DATABASE_URL "postgres://cardea_service:$database_password@postgres:5432/cardea"
secret REDIS_URL "redis://:$redis_password@redis:6379"
secret SMTP_URL smtp://mailbox:1025

cat >"$draft" <<END
# Made by deploy/make-env.sh. All settings: docs/settings.md.
ENV=development
# Keep ENCRYPTION_KEY and JWT_SECRET apart from the data, too: without the first, what is sealed cannot be read
# again.
SECRETS_FOLDER=$(cd -- "$folder" && pwd)
# With the mailbox, which takes all mail and shows it to whoever asks.
COMPOSE_PROFILES=dev
CARDEA_ALLOW_PLAINTEXT=postgres,redis,kafka,eventstore,mailbox
LOG_LEVEL=info
PUBLIC_URL=http://localhost:8080

# Made once, at the first start; later changes do nothing.
ADMIN_EMAIL=admin@cardea.local
END

# A link is made or refused in one step, so that two runs at once leave one file.
ln -- "$draft" "$target" 2>/dev/null || {
  echo "$target could not be written." >&2
  exit 1
}
made=
echo "Wrote $target and $folder. The admin's password is in $folder/ADMIN_PASSWORD; they sign in at the tenant"
echo "$admin_tenant (the header X-Service-Tenant)."
