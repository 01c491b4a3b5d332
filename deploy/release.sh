#!/bin/sh
# Makes what goes out with a release, in the folder of the checkout:
#   deploy/release.sh [TARGET]     TARGET: where the lists of parts are written; release
# Needs an installed checkout (npm test), Docker, and the registries of the images.
# TARGET/<image>.cdx.json lists what each image is made of (CycloneDX), of the lockfile; deploy/images.lock names
# the images of other people by digest, as registries have them now. Neither builds nor publishes anything.
set -eu
cd -- "$(dirname -- "$0")/.."
target=${1:-release}
pnpm=$(sed -n "s/^const PNPM = '\(.*\)';$/\1/p" scripts/bootstrap.mjs)
mkdir -p -- "$target"

for folder in services/*/; do
  name=$(basename -- "$folder")
  [ -e "$folder/package.json" ] || continue
  npx --yes "$pnpm" sbom --sbom-format cyclonedx --sbom-type application --prod --lockfile-only \
    --filter "@cardea/$name" --out "$target/$name.cdx.json" >/dev/null
  node_modules/.bin/node deploy/listed-parts.ts "$name" "$target/$name.cdx.json"
  echo "$target/$name.cdx.json"
done

# The variable of each image of other people with its tag: arguments of the Dockerfile, defaults of the compose file.
pinned=$(
  sed -n 's/^ARG \([A-Z]*_IMAGE\)=\(.*\)$/\1 \2/p' deploy/Dockerfile
  sed -n 's/^.*image: ${\([A-Z]*_IMAGE\):-\([^}]*\)}.*$/\1 \2/p' docker-compose.yml
)
draft=deploy/images.lock.$$
trap 'rm -f -- "$draft"' EXIT
{
  echo '# Made by deploy/release.sh: docker compose --env-file .env --env-file deploy/images.lock up --wait'
  echo "$pinned" | while read -r name image; do
    digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$image" 2>/dev/null ||
      docker manifest inspect --verbose "$image" 2>/dev/null | sed -n 's/.*"digest": "\(sha256:[0-9a-f]*\)".*/\1/p' | head -n 1)
    case $digest in
      sha256:*) echo "$name=$image@$digest" ;;
      *)
        echo "No registry names a digest of $image." >&2
        exit 1
        ;;
    esac
  done
} >"$draft" || exit 1
mv -- "$draft" deploy/images.lock
trap - EXIT
echo deploy/images.lock
