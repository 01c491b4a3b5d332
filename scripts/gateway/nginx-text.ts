/** Text that all parts of nginx's configuration use. */

/** A variable that each deployment sets. */
export const given = (name: string) => `\${${name}}`;

export const block = (opening: string, inside: readonly string[]): string =>
  [`${opening} {`, ...inside.map((line) => (line === '' ? '' : `    ${line}`)), '}'].join('\n');

export const lines = (text: string): readonly string[] => text.split('\n');

/** Headers of every response that the gateway itself writes. */
export const DEFAULT_HEADERS = [
  'add_header X-Request-Id $request_id always;',
  'add_header X-Served-By gateway always;',
  'add_header X-Content-Type-Options nosniff always;',
  `add_header Strict-Transport-Security "${given('HSTS')}" always;`,
];
