#!/bin/sh
# Fills in the committed template for this container, and runs nginx until it is told to stop: then it goes
# on for a while, as long as others still think that it takes requests, and lets those in flight end.
#   UPSTREAM_DOMAIN        behind the services' names, where names need it: cardea.svc.cluster.local
#   TRUSTED_PROXIES        CIDRs of load balancers in front, whose X-Forwarded-For counts
#   PUBLIC_URL             where it begins with https://, browsers are told to stay there
#   SHUTDOWN_DELAY_SECONDS 5
#   WORKERS                auto
set -eu

source=${SOURCE:-/gateway}
folder=${FOLDER:-/tmp/gateway}
resolve=${RESOLVE-resolve}
delay=${SHUTDOWN_DELAY_SECONDS:-5}

fail() {
  echo "$1" >&2
  exit 78
}

# $1 name, $2 value, $3 characters that it may have: nothing may add directives.
check() {
  case $2 in *[!$3]*) fail "$1 has not the form expected." ;; esac
}
check UPSTREAM_DOMAIN "${UPSTREAM_DOMAIN:-}" 'A-Za-z0-9.-'
check TRUSTED_PROXIES "${TRUSTED_PROXIES:-}" '0-9a-fA-F.:/, '
check WORKERS "${WORKERS:-auto}" 'a-z0-9'
check SHUTDOWN_DELAY_SECONDS "$delay" '0-9'
check PORT "${PORT:-8080}" '0-9'

# $1 service: looked up again while nginx runs, for containers come and go.
servers() {
  echo "server $1${UPSTREAM_DOMAIN:+.$UPSTREAM_DOMAIN}:8080${resolve:+ $resolve} max_fails=0;"
}

real_ip=
for cidr in $(echo "${TRUSTED_PROXIES:-}" | tr ',' ' '); do
  real_ip="$real_ip set_real_ip_from $cidr;"
done
nameservers=$(awk '$1 == "nameserver" { print ($2 ~ /:/) ? "[" $2 "]" : $2 }' /etc/resolv.conf | tr '\n' ' ')
resolver=${resolve:+resolver ${nameservers}valid=5s;}
case ${PUBLIC_URL:-} in https://*) hsts=max-age=31536000 ;; *) hsts= ;; esac

mkdir -p -- "$folder"
sed \
  -e "s|\${FOLDER}|$folder|g" \
  -e "s|\${STATIC}|$source/static|g" \
  -e "s|\${WORKERS}|${WORKERS:-auto}|g" \
  -e "s|\${LISTEN}|listen ${PORT:-8080};|g" \
  -e "s|\${LOG}|${LOG:-/dev/stdout}|g" \
  -e "s|\${REAL_IP}|$real_ip|g" \
  -e "s|\${RESOLVER}|$resolver|g" \
  -e "s|\${HSTS}|$hsts|g" \
  -e "s|\${READ_WAIT}|45s|g" \
  -e "s|\${IDENTITY_SERVERS}|$(servers identity)|g" \
  -e "s|\${AUTHZ_SERVERS}|$(servers authz)|g" \
  -e "s|\${VAULT_SERVERS}|$(servers vault)|g" \
  -e "s|\${APPROVAL_SERVERS}|$(servers approval)|g" \
  -e "s|\${WEBHOOKS_SERVERS}|$(servers webhook-dispatcher)|g" \
  -e "s|\${AUDIT_SERVERS}|$(servers audit-projector)|g" \
  "$source/nginx.conf.template" >"$folder/nginx.conf"
! grep -n '\${[A-Z_]*}' "$folder/nginx.conf" >&2 || fail "The template asks for what nobody gives."

[ "${1:-}" != print ] || exec cat "$folder/nginx.conf"

nginx -p "$folder" -c "$folder/nginx.conf" -e stderr &
nginx=$!
stopping=
trap 'stopping=yes' TERM INT QUIT
wait "$nginx" && code=0 || code=$?
if [ -n "$stopping" ]; then
  sleep "$delay"
  kill -QUIT "$nginx" 2>/dev/null || true
  wait "$nginx" && code=0 || code=$?
fi
exit "$code"
