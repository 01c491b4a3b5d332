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
  {
    path: '/favicon.ico',
    file: 'favicon.svg',
    type: 'image/svg+xml',
    headers: [['Cache-Control', `public, max-age=${documentation.bundleMaxAgeSeconds}`]],
  },
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

export const staticPaths: readonly string[] = ['/', ...STATIC_FILES.map(({ path }) => path)];

export const staticLocations = (): readonly string[] => [
  ...homePage(),
  ...STATIC_FILES.flatMap(staticFile),
];

const GET_ALONE = ['if ($request_method !~ ^(?:GET|HEAD)$) {', '    return 405;', '}'];

/** The response is written in the configuration, because nginx treats a path that ends with a slash as a folder. */
const homePage = (): readonly string[] =>
  lines(
    block('location = /', [
      ...GET_ALONE,
      'default_type "text/html; charset=utf-8";',
      ...DEFAULT_HEADERS,
      `add_header Content-Security-Policy "${documentation.homePolicy}" always;`,
      'add_header Referrer-Policy "no-referrer" always;',
      `return 200 '${documentation.home.replaceAll('\n', '')}';`,
    ]),
  );

const staticFile = ({ path, file, type, headers = [] }: StaticFile): readonly string[] =>
  lines(
    block(`location = ${path}`, [
      ...GET_ALONE,
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
