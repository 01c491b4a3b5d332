/** The authorization service in a process of its own, with 100,000 tuples and an API key for checks. */
import { hash } from 'node:crypto';
import { authzService } from '@cardea/authz';
import type { Append } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import { serviceFixture, untilTrue } from '@cardea/testing';

const TENANT = 'bench';
const REQUESTS = 2_000;
const APPENDS_AT_ONCE = 256;
const CATCH_UP_MS = 120_000;

type Tuple = readonly [
  subjectType: string,
  subject: number,
  relation: string,
  type: string,
  object: number,
];

const [databaseUrl = '', size] = process.argv.slice(2);
const SMALLER = size === 'smoke' ? 20 : 1;
const GROUPS = 500 / SMALLER;
const USERS = 10_000 / SMALLER;
const FOLDERS = 5_000 / SMALLER;
const DOCUMENTS = 50_000 / SMALLER;
const GROUP_GRANTS = 5_000 / SMALLER;
const USER_GRANTS = 24_500 / SMALLER;
const fixture = await serviceFixture({ databaseUrl, definitions: [authzService] });
process.on('disconnect', () => process.exit(0));

const id = (type: string, number: number) => uuidFrom(type, String(number));
const fieldsOf = ([user_type, subject, relation, object_type, object]: Tuple) => ({
  user_type,
  user_id: id(user_type, subject),
  relation,
  object_type,
  object_id: id(object_type, object),
});

await seed();
process.send?.({
  origin: fixture.baseUrl,
  headers: {
    authorization: `Bearer ${fixture.tokens.apiKey({ tenantId: TENANT, scopes: ['fga:read'] })}`,
    'x-service-tenant': TENANT,
  },
  questions: questions(),
});

/**
 * The set of `docs/design/authz.md`, "Reference set of the benchmark", at a tenth: the same numbers give
 * the same graph.
 */
function* tuples(): Generator<Tuple> {
  for (let group = 4; group < GROUPS; group++) {
    yield ['group', group, 'member', 'group', Math.floor(group / 4)];
  }
  for (let user = 0; user < USERS; user++) {
    yield ['user', user, 'member', 'group', spread(user, GROUPS)];
    if (user % 2 === 0) yield ['user', user, 'member', 'group', spread(user + 7, GROUPS)];
  }
  for (let folder = 8; folder < FOLDERS; folder++) {
    yield ['folder', Math.floor(folder / 8), 'parent', 'folder', folder];
  }
  for (let document = 0; document < DOCUMENTS; document++) {
    yield ['folder', spread(document, FOLDERS), 'parent', 'document', document];
  }
  for (let grant = 0; grant < GROUP_GRANTS; grant++) {
    yield ['group', spread(grant, GROUPS), 'viewer', 'folder', spread(grant * 3 + 1, FOLDERS)];
  }
  for (let grant = 0; grant < USER_GRANTS; grant++) {
    yield ['user', spread(grant * 5 + 2, USERS), 'editor', 'document', spread(grant, DOCUMENTS)];
  }
}

/** Distributes numbers evenly without randomness: multiples of the golden ratio avoid regular patterns. */
function spread(number: number, below: number): number {
  return Math.floor((((number + 1) * 0.618_033_988_75) % 1) * below);
}

async function seed(): Promise<void> {
  const { store, positions } = fixture.host.needsOf('authz');
  let batch: Append[] = [];
  let last = 0n;
  const flush = async () => {
    for (const outcome of await store.append(batch)) {
      if (outcome.appended && outcome.position > last) last = outcome.position;
    }
    batch = [];
  };
  for (const tuple of tuples()) {
    batch.push(appendOf(tuple));
    if (batch.length === APPENDS_AT_ONCE) await flush();
  }
  await flush();
  if (!(await positions.reached(['tuples'], last, CATCH_UP_MS))) {
    throw new Error('the table did not take the tuples in time');
  }
  // Otherwise its relay would still be publishing them while checks are measured.
  await untilTrue(
    async () => BigInt((await fixture.shared.cache.get('relay:authz')) ?? 0) >= last,
    {
      deadlineMs: CATCH_UP_MS,
    },
  );
}

function appendOf(tuple: Tuple): Append {
  const fields = fieldsOf(tuple);
  const key = hash('sha256', JSON.stringify([TENANT, ...Object.values(fields)]));
  const now = new Date();
  const data = { tuple_id: uuidFrom(key), ...fields, created_at: now.toISOString() };
  const event = { id: uuidFrom('event', key), type: 'TupleWritten', schemaVersion: 1, time: now };
  const metadata = { tenantId: TENANT, actor: { type: 'system', id: 'bench' } } as const;
  return {
    streamId: `tuple-${key}`,
    expected: 'any',
    events: [{ ...event, data, metadata }],
  };
}

/** Half of them ask for a directly granted relation, half for an arbitrary one. */
function questions(): string[] {
  return Array.from({ length: REQUESTS }, (_, at) => {
    const user = at % 2 === 0 ? spread(at * 5 + 2, USERS) : spread(at * 11, USERS);
    const document = at % 2 === 0 ? spread(at, DOCUMENTS) : spread(at * 13, DOCUMENTS);
    return JSON.stringify(fieldsOf(['user', user, 'viewer', 'document', document]));
  });
}
