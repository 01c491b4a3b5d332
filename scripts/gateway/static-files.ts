/** The documents that the gateway serves itself. */
import { documentation } from '@cardea/http';
import { block, DEFAULT_HEADERS, lines } from './nginx-text.ts';

type StaticFile = {
  readonly path: string;
  readonly file: string;
  readonly type: string;
  readonly headers?: readonly (readonly [string, string])[];
};

/** Files beside the configuration that the gateway serves. */
const STATIC_FILES: readonly StaticFile[] = [
  { path: '/openapi.json', file: 'openapi.json', type: 'application/json; charset=utf-8' },
  { path: '/asyncapi.json', file: 'asyncapi.json', type: 'application/json; charset=utf-8' },
  {
    path: '/docs',
    file: 'docs.html',
    type: 'text/html; charset=utf-8',
    headers: [
      ['Content-Security-Policy', documentation.policy],
      ['Referrer-Policy', 'no-referrer'],
    ],
  },
  { path: '/docs/start.js', file: 'start.js', type: 'text/javascript; charset=utf-8' },
  {
    path: '/docs/reference.js',
    file: 'reference.js',
    type: 'text/javascript; charset=utf-8',
    headers: [['Cache-Control', `public, max-age=${documentation.bundleMaxAgeSeconds}`]],
  },
];

export const staticPaths: readonly string[] = STATIC_FILES.map(({ path }) => path);

export const staticLocations = (): readonly string[] => STATIC_FILES.flatMap(staticFile);

const staticFile = ({ path, file, type, headers = [] }: StaticFile): readonly string[] =>
  lines(
    block(`location = ${path}`, [
      'if ($request_method !~ ^(?:GET|HEAD)$) {',
      '    return 405;',
      '}',
      `alias \${STATIC}/${file};`,
      'types { }',
      `default_type "${type}";`,
      'max_ranges 0;',
      'gzip on;',
      'gzip_vary on;',
      // The type includes its charset here, which nginx's list of types would not match.
      'gzip_types *;',
      ...DEFAULT_HEADERS,
      ...headers.map(([name, value]) => `add_header ${name} "${value}" always;`),
    ]),
  );
