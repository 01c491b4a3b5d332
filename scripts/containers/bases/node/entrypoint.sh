#!/bin/sh
# Options, and words that are no program, are handed to node.
set -e
case $1 in
  -*) set -- node "$@" ;;
  *) command -v "$1" >/dev/null || set -- node "$@" ;;
esac
exec "$@"
