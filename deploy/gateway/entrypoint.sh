#!/bin/sh
# Fills the template in from the environment and becomes nginx. All that nginx writes lies below
# GATEWAY_FOLDER, so that the rest may be read-only.
#   PORT                      8080
#   GATEWAY_TRUSTED_PROXIES   CIDRs of proxies in front, with commas between; none
#   PUBLIC_URL                with https:, answers say that it stays so
#   <SERVICE>_UPSTREAM        host:port of IDENTITY, AUTHZ, VAULT, APPROVAL, WEBHOOKS, AUDIT
#   UPSTREAM_SUFFIX           behind each name that has no dot, for nginx searches no domains
#   RESOLVER_ADDRESS          name server; the container's own
#   RESOLVER_FAMILY           ipv4, ipv6 or both: addresses that services are reached at; those that the container has
#   WORKERS                   2; `auto` counts the cores of the whole host
#   GATEWAY_LOG               /dev/stdout
set -eu

here=$(dirname -- "$0")
export FOLDER="${GATEWAY_FOLDER:-/tmp/gateway}"
export STATIC="${GATEWAY_STATIC:-/srv/gateway}"
export WORKERS="${WORKERS:-2}"
export LOG="${GATEWAY_LOG:-/dev/stdout}"
mkdir -p "$FOLDER"

# Of an IPv6 name server nginx wants the address in brackets.
name_server=${RESOLVER_ADDRESS:-$(awk '$1 == "nameserver" { print $2; exit }' /etc/resolv.conf)}
case $name_server in
  \[*) ;;
  *:*:*) name_server="[$name_server]" ;;
esac
# Addresses of a family that the container has none of would only cost the wait for their failure.
has_ipv4() { awk 'NR > 1 { found = 1 } END { exit !found }' "$network/route" 2>/dev/null; }
has_ipv6() { awk '$4 == "00" && $6 != "lo" { found = 1 } END { exit !found }' "$network/if_inet6" 2>/dev/null; }
network=${GATEWAY_NETWORK:-/proc/net}
family=${RESOLVER_FAMILY:-}
if [ -z "$family" ]; then
  family=both
  has_ipv6 || family=ipv4
  has_ipv4 || ! has_ipv6 || family=ipv6
fi
case $family in
  ipv4) families=' ipv6=off' ;;
  ipv6) families=' ipv4=off' ;;
  *) families= ;;
esac
# A replica that came or went is known soon; until then its silence costs a second. A name server that does not
# answer is asked again as soon, not after nginx's 30 s.
export RESOLVER="resolver ${name_server:-127.0.0.1} valid=2s$families; resolver_timeout 2s;"

port=${PORT:-8080}
LISTEN="listen $port;"
[ ! -e /proc/net/if_inet6 ] || LISTEN="$LISTEN listen [::]:$port;"
export LISTEN

REAL_IP=
IFS=', '
for cidr in ${GATEWAY_TRUSTED_PROXIES:-}; do
  REAL_IP="$REAL_IP set_real_ip_from $cidr;"
done
unset IFS
export REAL_IP

case ${PUBLIC_URL:-} in
  https:*) HSTS=max-age=31536000 ;;
  *) HSTS= ;;
esac
export HSTS

# $1 host:port. No address is left out after a failure: two that restart one after the other would
# both be out at once.
server() {
  case ${1%:*} in
    # A name of its own domain, or an address.
    *.* | \[*) echo "server $1 resolve max_fails=0;" ;;
    *) echo "server ${1%:*}${UPSTREAM_SUFFIX:-}:${1##*:} resolve max_fails=0;" ;;
  esac
}
IDENTITY_SERVERS=$(server "${IDENTITY_UPSTREAM:-identity:8080}")
AUTHZ_SERVERS=$(server "${AUTHZ_UPSTREAM:-authz:8080}")
VAULT_SERVERS=$(server "${VAULT_UPSTREAM:-vault:8080}")
APPROVAL_SERVERS=$(server "${APPROVAL_UPSTREAM:-approval:8080}")
WEBHOOKS_SERVERS=$(server "${WEBHOOKS_UPSTREAM:-webhook-dispatcher:8080}")
AUDIT_SERVERS=$(server "${AUDIT_UPSTREAM:-audit-projector:8080}")
export IDENTITY_SERVERS AUTHZ_SERVERS VAULT_SERVERS APPROVAL_SERVERS WEBHOOKS_SERVERS AUDIT_SERVERS
export READ_WAIT="${READ_WAIT:-45s}"

awk '{
  rest = $0
  line = ""
  while (match(rest, /[$][{][A-Z_]+[}]/)) {
    name = substr(rest, RSTART + 2, RLENGTH - 3)
    if (!(name in ENVIRON)) { print name " is not set" > "/dev/stderr"; exit 78 }
    line = line substr(rest, 1, RSTART - 1) ENVIRON[name]
    rest = substr(rest, RSTART + RLENGTH)
  }
  print line rest
}' "$here/nginx.conf.template" >"$FOLDER/nginx.conf"

exec "$@" -p "$FOLDER" -c "$FOLDER/nginx.conf" -e stderr
