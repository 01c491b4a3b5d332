/** Makes a valid request a little wrong: its values, types, structure, headers or path. */
import type { Random } from '@cardea/runtime';
import type { Ask } from '../security/sample.ts';

/** Part of every mutated text, so that an answer which repeats input can be recognised. */
export const MUTATION = 'zq7mark31';

export type Sent = {
  readonly ask: Ask;
  readonly tenant: string | undefined;
  readonly path: (path: string) => string;
  /** Sent instead of the body as JSON. */
  readonly raw?: string;
};

export type Dice = { pick<T>(from: readonly T[]): T };

export const dice = (random: Random): Dice => ({
  pick: (from) => from[random.bytes(4).readUInt32BE() % from.length] as (typeof from)[number],
});

const LONG = 5_000;
const DEEP = 40;
const deep = (): unknown => {
  let value: unknown = MUTATION;
  for (let depth = 0; depth < DEEP; depth += 1) value = [value];
  return value;
};
const ODD: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  2 ** 53,
  1e300,
  0.1,
  '',
  ' ',
  MUTATION,
  `${MUTATION}\u0000`,
  `${MUTATION}\ud800`,
  `\u202e${MUTATION}\ufeff`,
  `'; DROP TABLE ${MUTATION}; --`,
  `%00%ff${MUTATION}`,
  `../../${MUTATION}`,
  `{{${MUTATION}}}`,
  MUTATION.repeat(LONG / MUTATION.length),
  '0197f0f0-0000-7000-8000-000000000001',
  '9999-99-99T99:99:99Z',
  '+010000-01-01T00:00:00Z',
  [],
  {},
  [MUTATION, MUTATION],
  { [MUTATION]: MUTATION },
  { constructor: MUTATION },
  deep(),
];
const ODD_TEXTS = ODD.filter((value): value is string => typeof value === 'string');
/** Characters that a header line can contain. */
const ODD_LINES = [
  '',
  ' ',
  MUTATION,
  `${MUTATION},${MUTATION}`,
  '"',
  '=',
  'é',
  MUTATION.repeat(100),
  'identity-1',
];
const HEADERS = [
  'idempotency-key',
  'x-service-app-id',
  'x-service-consistency',
  'x-service-token',
  'x-request-id',
  'x-forwarded-for',
  'traceparent',
  'accept',
  'user-agent',
  'if-none-match',
  'origin',
];

type Mutation = (sent: Sent, dice: Dice) => Sent;

const withBody =
  (change: (body: { [name: string]: unknown }, dice: Dice) => unknown): Mutation =>
  (sent, roll) => {
    const body = change(structuredClone({ ...sent.ask.body }), roll);
    return { ...sent, ask: { ...sent.ask, body: body as object } };
  };
const some = (body: object, roll: Dice): string => roll.pick([...Object.keys(body), MUTATION]);

const mutations: readonly Mutation[] = [
  withBody((body, roll) => ({ ...body, [some(body, roll)]: roll.pick(ODD) })),
  withBody((body, roll) => ({ ...body, [some(body, roll)]: roll.pick(ODD) })),
  withBody((body, roll) => {
    delete body[some(body, roll)];
    return body;
  }),
  withBody((body, roll) => {
    const name = some(body, roll);
    return { ...body, [name]: roll.pick([[body[name]], { [MUTATION]: body[name] }]) };
  }),
  withBody((_, roll) => roll.pick(ODD)),
  (sent, roll) => {
    const text = JSON.stringify(sent.ask.body ?? {});
    const cut = text.slice(0, -1);
    return {
      ...sent,
      raw: roll.pick([cut, `${text}${MUTATION}`, `${cut},"__proto__":{}}`, `\ufeff${text}`]),
    };
  },
  ({ ask, ...sent }, roll) => {
    const name = roll.pick([
      ...Object.keys(ask.query ?? {}),
      'limit',
      'offset',
      'from',
      'q',
      MUTATION,
    ]);
    return { ...sent, ask: { ...ask, query: { ...ask.query, [name]: roll.pick(ODD_TEXTS) } } };
  },
  ({ ask, ...sent }, roll) => {
    const names = Object.keys(ask.params ?? {});
    if (names.length === 0) return { ...sent, ask };
    const params = {
      ...ask.params,
      [roll.pick(names)]: roll.pick(ODD_TEXTS).toWellFormed() || '-',
    };
    return { ...sent, ask: { ...ask, params } };
  },
  ({ ask, ...sent }, roll) => {
    const headers = { ...ask.headers, [roll.pick(HEADERS)]: roll.pick(ODD_LINES) };
    return { ...sent, ask: { ...ask, headers } };
  },
  (sent, roll) => ({ ...sent, tenant: roll.pick([undefined, ...ODD_LINES]) }),
  (sent, roll) => ({
    ...sent,
    path: roll.pick([
      (path) => `${path}/`,
      (path) => `${path}/${MUTATION}`,
      (path) => path.replace('/v1/', '//v1/'),
      (path) => path.replace('/api/', '/api/%2e%2e/'),
      (path) => `${path}%`,
      (path) => path.toUpperCase(),
    ]),
  }),
];

export function mutated(ask: Ask, tenant: string, roll: Dice): Sent {
  let sent: Sent = { ask, tenant, path: (path) => path };
  for (let left = roll.pick([1, 1, 2, 3]); left > 0; left -= 1)
    sent = roll.pick(mutations)(sent, roll);
  return sent;
}
