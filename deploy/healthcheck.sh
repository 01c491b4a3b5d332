#!/usr/bin/env bash
# Ends with 0 when this process says at its management port that it is ready; PORT and path may be named. No
# other program is started: it is asked again every few seconds, in each container.
port=${1:-${MANAGEMENT_PORT:-8081}}
path=${2:-/readyz}
exec 3<>"/dev/tcp/127.0.0.1/$port" || exit 1
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$path" >&3
read -r -t 8 _ status _ <&3
[ "$status" = 200 ]
