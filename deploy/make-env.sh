#!/bin/sh
# Writes .env for docker compose: secrets of its own, readable by you alone. What is there already stays
# as it is, for data may be encrypted under it.  deploy/make-env.sh [FILE]
set -eu
umask 077

target=${1:-$(dirname -- "$0")/../.env}
draft=$target.new.$$
trap 'rm -f -- "$draft"' EXIT
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

if [ -e "$target" ] || [ -L "$target" ]; then
  echo "$target exists; nothing was written." >&2
  exit 1
fi

# The same in every deployment.
admin_tenant=1e36ea5c-1818-5de0-87a6-16b28398c877

jwt_secret=$(random_hex 32)
encryption_key=$(random_hex 32)
postgres_password=$(random_hex 24)
database_password=$(random_hex 24)
redis_password=$(random_hex 24)
admin_password=$(random_hex 12)
grafana_password=$(random_hex 12)

cat >"$draft" <<END
# Made by deploy/make-env.sh. Keep ENCRYPTION_KEY and JWT_SECRET apart from the data: without the first,
# what is sealed cannot be read again. All settings: docs/settings.md.
ENV=development
# With the mailbox, which takes all mail and shows it to whoever asks.
COMPOSE_PROFILES=dev
SMTP_URL=smtp://mailbox:1025
CARDEA_ALLOW_PLAINTEXT=postgres,redis,kafka,eventstore,mailbox
LOG_LEVEL=info
PUBLIC_URL=http://localhost:8080

JWT_SECRET=$jwt_secret
ENCRYPTION_KEY=$encryption_key

# Made once, at the first start; later changes do nothing.
ADMIN_EMAIL=admin@cardea.local
ADMIN_PASSWORD=$admin_password

# Of the servers in docker-compose.yml: the owner of the tables, the user of the services, the cache.
POSTGRES_PASSWORD=$postgres_password
DATABASE_PASSWORD=$database_password
REDIS_PASSWORD=$redis_password
GRAFANA_PASSWORD=$grafana_password
END

# A link is made or refused in one step, so that two runs at once leave one file.
ln -- "$draft" "$target" 2>/dev/null || {
  echo "$target could not be written." >&2
  exit 1
}
echo "Wrote $target. The admin's password is in it; they sign in at the tenant"
echo "$admin_tenant (the header X-Service-Tenant)."
