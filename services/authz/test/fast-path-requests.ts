/** Requests for the parity of the fast path: every success and refusal of checks and filters, and odd forms of HTTP. */

export type Credentials = {
  readonly key: string;
  readonly keyWithoutScope: string;
  readonly user: string;
  readonly agent: string;
  readonly agentKey: string;
  readonly foreign: string;
};

export type RawRequest = {
  readonly name: string;
  bytes(credentials: Credentials): Buffer;
};

type Form = {
  readonly line?: string;
  readonly headers?: readonly string[];
  /** Undefined: the length of the body is announced, as JSON. */
  readonly framing?: readonly string[];
  readonly body?: string | Buffer;
};
type Named<Value> = readonly (readonly [name: string, value: Value])[];

const CHECK = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: 'd1',
};
const FILTER = {
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_ids: ['d1', 'd2', 'd1'],
};
export const TENANT = 'acme';
const tenant = `X-Service-Tenant: ${TENANT}`;
const json = 'Content-Type: application/json';

const CALLERS: Named<(of: Credentials) => readonly string[]> = [
  ['a key', ({ key }) => [`Authorization: Bearer ${key}`, tenant]],
  ['a user', ({ user }) => [`authorization: bearer ${user}`, tenant]],
  ['an agent', ({ agent }) => [`Authorization: Bearer ${agent}`, tenant]],
  ['nobody', () => [tenant]],
];

/** Who calls, each with a plain question. */
const MORE_CALLERS: typeof CALLERS = [
  ['a key without the scope', (of) => [`Authorization: Bearer ${of.keyWithoutScope}`, tenant]],
  ["an agent's key", ({ agentKey }) => [`Authorization: Bearer ${agentKey}`, tenant]],
  ["another tenant's user", ({ foreign }) => [`Authorization: Bearer ${foreign}`, tenant]],
  ['a forged token', ({ user }) => [`Authorization: Bearer ${user}x`, tenant]],
  ['a key with a typo', ({ key }) => [`Authorization: Bearer ${key.slice(0, -1)}!`, tenant]],
  ['no scheme', ({ key }) => [`Authorization: ${key}`, tenant]],
  ['another scheme', ({ key }) => [`Authorization: Basic ${key}`, tenant]],
  ['an empty credential', () => ['Authorization:', tenant]],
  ['a long credential', () => [`Authorization: Bearer ${'a'.repeat(9_000)}`, tenant]],
  ['a doubled credential', ({ key }) => [...twice(`Authorization: Bearer ${key}`), tenant]],
  ['no tenant', ({ key }) => [`Authorization: Bearer ${key}`]],
  ['an empty tenant', ({ key }) => [`Authorization: Bearer ${key}`, 'X-Service-Tenant:']],
  ['two tenants', ({ key }) => [`Authorization: Bearer ${key}`, tenant, tenant]],
  ['a list of tenants', ({ key }) => [`Authorization: Bearer ${key}`, `${tenant}, ${TENANT}`]],
  ['a foreign tenant', ({ key }) => [`Authorization: Bearer ${key}`, 'X-Service-Tenant: other']],
  ['spaces around', ({ key }) => [`Authorization:   Bearer   ${key}  `, `${tenant}  `]],
];

const BODIES = (plain: typeof CHECK | typeof FILTER): Named<string | Buffer> => [
  ['a question', JSON.stringify(plain)],
  ['spaces', ` \n${JSON.stringify(plain, null, 2)}\n `],
  ['another principal', JSON.stringify({ ...plain, user_id: 'bob' })],
  ['a weaker relation', JSON.stringify({ ...plain, relation: 'can_read' })],
  ['a stronger relation', JSON.stringify({ ...plain, relation: 'owner' })],
  ['member', JSON.stringify({ ...plain, relation: 'member' })],
  ['parent', JSON.stringify({ ...plain, relation: 'parent' })],
  ['an unknown type', JSON.stringify({ ...plain, object_type: 'planet' })],
  ['letters beyond ASCII', JSON.stringify({ ...plain, user_id: 'Zoë 𝕏' })],
  ['an escape', JSON.stringify(plain).replace('ann', '\\u0061nn')],
  ['an unknown relation', JSON.stringify({ ...plain, relation: 'friend' })],
  ['an unknown field', JSON.stringify({ ...plain, more: 1 })],
  ['a missing field', JSON.stringify({ ...plain, user_id: undefined })],
  ['an empty field', JSON.stringify({ ...plain, user_id: '' })],
  ['a number', JSON.stringify({ ...plain, user_id: 7 })],
  ['a control character', JSON.stringify({ ...plain, user_id: 'a\u0001' })],
  ['a long type', JSON.stringify({ ...plain, user_type: 'x'.repeat(257) })],
  ['a long id', JSON.stringify({ ...plain, user_id: 'ü'.repeat(600) })],
  ['nothing', ''],
  ['an object without fields', '{}'],
  ['a list', '[]'],
  ['null', 'null'],
  ['no JSON', '{"user_type":'],
  ['a doubled key', JSON.stringify(plain).replace('{', '{"user_id":"x",')],
  ['a forbidden key', JSON.stringify(plain).replace('{', '{"__proto__":{},')],
  ['an escaped NUL', JSON.stringify(plain).replace('ann', '\\u0000')],
  ['a lone surrogate', JSON.stringify(plain).replace('ann', '\\ud800')],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['a byte order mark', `\ufeff${JSON.stringify(plain)}`],
  ['deep nesting', `${'['.repeat(40)}${']'.repeat(40)}`],
  ['many keys', `{${Array.from({ length: 1_001 }, (_, at) => `"k${at}":1`).join(',')}}`],
  ['a body of 300 KB', JSON.stringify({ ...plain, user_id: 'x'.repeat(300_000) })],
];

const twice = (header: string): readonly string[] => [header, header];

/** With one caller and a question that is allowed. */
const FORMS = (path: string, body: string): Named<Form> => [
  ['a consistency token', { headers: ['X-Service-Consistency: authz-1'] }],
  ['tokens of other logs', { headers: ['X-Service-Consistency: vault-9, identity-7'] }],
  ['a malformed token', { headers: ['X-Service-Consistency: authz-x'] }],
  ['an empty token', { headers: ['X-Service-Consistency:'] }],
  ['doubled tokens', { headers: twice('X-Service-Consistency: authz-1') }],
  ['an app', { headers: ['X-Service-App-Id: app'] }],
  ['a long app', { headers: [`X-Service-App-Id: ${'a'.repeat(129)}`] }],
  ['a doubled app', { headers: twice('X-Service-App-Id: app') }],
  ['an idempotency key', { headers: ['Idempotency-Key: k'] }],
  ['a traceparent', { headers: [`traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`] }],
  ['no traceparent', { headers: ['traceparent: nonsense'] }],
  ['a request id of its own', { headers: ['X-Request-Id: mine-12345678'] }],
  ['a proxy', { headers: ['X-Forwarded-For: 203.0.113.9', 'Via: 1.1 x'] }],
  ['an origin', { headers: ['Origin: https://app.example'] }],
  ['cookies', { headers: ['Cookie: a=b', 'Cookie: c=d'] }],
  ['many headers', { headers: Array.from({ length: 60 }, (_, at) => `X-More-${at}: ${at}`) }],
  ['a header that is a property', { headers: ['__proto__: x', 'constructor: y'] }],
  ['names in capitals', { framing: ['CONTENT-TYPE: application/json', lengthOf(body)] }],
  ['a charset', { framing: ['Content-Type: application/json; charset=utf-8', lengthOf(body)] }],
  [
    'another charset',
    { framing: ['Content-Type: application/json; charset=latin1', lengthOf(body)] },
  ],
  ['a type in capitals', { framing: ['Content-Type: Application/JSON', lengthOf(body)] }],
  ['text', { framing: ['Content-Type: text/plain', lengthOf(body)] }],
  ['a form', { framing: ['Content-Type: application/x-www-form-urlencoded', lengthOf(body)] }],
  ['no type', { framing: [lengthOf(body)] }],
  ['a doubled type', { framing: [...twice(json), lengthOf(body)] }],
  ['two types', { framing: [json, 'Content-Type: text/plain', lengthOf(body)] }],
  ['gzip', { headers: ['Content-Encoding: gzip'] }],
  ['identity', { headers: ['Content-Encoding: identity'] }],
  ['chunks', { framing: [json, 'Transfer-Encoding: chunked'], body: chunked(body) }],
  [
    'chunks of 300 KB',
    { framing: [json, 'Transfer-Encoding: chunked'], body: chunked('x'.repeat(300_000)) },
  ],
  [
    'length and chunks',
    { framing: [json, lengthOf(body), 'Transfer-Encoding: chunked'], body: chunked(body) },
  ],
  ['no length', { framing: [json], body: '' }],
  ['two lengths', { framing: [json, lengthOf(body), 'Content-Length: 1'] }],
  ['a length with a sign', { framing: [json, 'Content-Length: +5'] }],
  ['a length of nothing', { framing: [json, 'Content-Length: 0'], body: '' }],
  ['a length beyond all', { framing: [json, `Content-Length: ${'9'.repeat(14)}`], body: '' }],
  ['a length that is too long', { framing: [json, 'Content-Length: 300000'], body: '' }],
  ['an expectation', { headers: ['Expect: 100-continue'] }],
  ['an unknown expectation', { headers: ['Expect: tea'] }],
  ['an upgrade', { headers: ['Upgrade: h2c'] }],
  ['a query', { line: `POST ${path}?a=b HTTP/1.1` }],
  ['an empty query', { line: `POST ${path}? HTTP/1.1` }],
  ['a fragment', { line: `POST ${path}#x HTTP/1.1` }],
  ['a slash at the end', { line: `POST ${path}/ HTTP/1.1` }],
  ['a slash too many', { line: `POST ${path.replace('/fga', '//fga')} HTTP/1.1` }],
  ['a way up', { line: `POST ${path}/../check HTTP/1.1` }],
  ['an encoded letter', { line: `POST ${path.replace('fga', '%66ga')} HTTP/1.1` }],
  ['capitals in the path', { line: `POST ${path.toUpperCase()} HTTP/1.1` }],
  ['a whole URL', { line: `POST http://localhost${path} HTTP/1.1` }],
  ['GET', { line: `GET ${path} HTTP/1.1` }],
  ['HEAD', { line: `HEAD ${path} HTTP/1.1`, framing: [], body: '' }],
  ['PUT', { line: `PUT ${path} HTTP/1.1` }],
  ['DELETE', { line: `DELETE ${path} HTTP/1.1` }],
  ['OPTIONS', { line: `OPTIONS ${path} HTTP/1.1`, framing: [], body: '' }],
  ['a method in small letters', { line: `post ${path} HTTP/1.1` }],
  ['HTTP/1.0', { line: `POST ${path} HTTP/1.0` }],
];

const lengthOf = (body: string): string => `Content-Length: ${Buffer.byteLength(body)}`;
const chunked = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;

export function fastPathRequests(): readonly RawRequest[] {
  return [...requestsTo('/api/v1/fga/check', CHECK), ...requestsTo('/api/v1/fga/filter', FILTER)];
}

function requestsTo(path: string, plain: typeof CHECK | typeof FILTER): readonly RawRequest[] {
  const body = JSON.stringify(plain);
  const [firstCaller] = CALLERS;
  if (firstCaller === undefined) throw new Error('a caller');
  const named = (name: string, caller: (of: Credentials) => readonly string[], form: Form) => ({
    name: `${path}: ${name}`,
    bytes: (of: Credentials) => bytesOf(path, caller(of), { body, ...form }),
  });
  const question = (text: string | Buffer): Form => ({
    body: text,
    framing: [json, `Content-Length: ${Buffer.byteLength(text)}`],
  });
  return [
    ...CALLERS.flatMap(([who, caller]) =>
      BODIES(plain).map(([what, text]) => named(`${who}, ${what}`, caller, question(text))),
    ),
    ...MORE_CALLERS.flatMap(([who, caller]) => [
      named(who, caller, {}),
      named(`${who}, no JSON`, caller, question('{')),
    ]),
    ...FORMS(path, body).map(([what, form]) => named(what, firstCaller[1], form)),
    named('no host', firstCaller[1], { headers: ['No-Host: x'] }),
  ];
}

function bytesOf(path: string, caller: readonly string[], form: Form): Buffer {
  const { line = `POST ${path} HTTP/1.1`, headers = [], body = '' } = form;
  const framing = form.framing ?? [json, `Content-Length: ${Buffer.byteLength(body)}`];
  const host = headers.includes('No-Host: x') ? [] : ['Host: localhost'];
  const head = [line, ...host, 'Connection: close', ...caller, ...headers, ...framing];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);
}
