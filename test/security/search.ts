/** Searches for secrets where none may be, in every encoding that a careless program might give them. */

export type Canary = { readonly name: string; readonly value: string };
export type Location = { readonly name: string; readonly text: string };

/** Shorter parts of a credential are public: ids, algorithms, counters. */
const TELLING_CHARS = 24;
/** Ids of tenants and sessions precede the secret part. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const BASE64_ALIGNMENTS = [0, 1, 2];

/** The whole value, and those of its parts that would help an attacker. */
export const canariesOf = (name: string, value: string): readonly Canary[] => {
  const parts = value
    .split(/[._]/)
    .filter((part) => part.length >= TELLING_CHARS && !UUID.test(part));
  // The claims of a token are no secret; its signature is.
  const telling = value.split('.').length === 3 ? parts.slice(-1) : parts;
  return [
    { name, value },
    ...telling
      .filter((part) => part !== value)
      .map((part) => ({ name: `part of ${name}`, value: part })),
  ];
};

export const hits = (canaries: readonly Canary[], places: readonly Location[]): readonly string[] =>
  canaries.flatMap((canary) =>
    spellings(canary.value).flatMap(({ spelling, needle }) =>
      places
        .filter(({ text }) => text.includes(needle))
        .map((place) => `${canary.name} (${spelling}) in ${place.name}`),
    ),
  );

function spellings(value: string): readonly { spelling: string; needle: string }[] {
  const hex = Buffer.from(value).toString('hex');
  const all = [
    { spelling: 'raw', needle: value },
    { spelling: 'hex', needle: hex },
    { spelling: 'hex', needle: hex.toUpperCase() },
    { spelling: 'URL-encoded', needle: encodeURIComponent(value) },
    { spelling: 'JSON', needle: JSON.stringify(value).slice(1, -1) },
    ...BASE64_ALIGNMENTS.flatMap((offset) => base64At(value, offset)),
  ];
  return all.filter(({ needle }, at) => all.findIndex((each) => each.needle === needle) === at);
}

/** The base64 form of a value inside a longer text that was encoded as a whole. */
function base64At(value: string, offset: number) {
  const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(value)]);
  const whole = padded.toString('base64').replaceAll('=', '');
  // The first characters also encode the preceding bytes, the last ones the following bytes.
  const needle = whole.slice(offset === 0 ? 0 : 4, padded.length % 3 === 0 ? undefined : -1);
  return [
    { spelling: 'base64', needle },
    { spelling: 'base64url', needle: needle.replaceAll('+', '-').replaceAll('/', '_') },
  ];
}
