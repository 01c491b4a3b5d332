/** `cardea users import`: users of other products, with hashes that those products' libraries made. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServiceFixture, testDatabase } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cardeaFixture, running } from './cardea-fixture.ts';

type Vector = {
  readonly tool: string;
  readonly form: string;
  readonly password: string;
  readonly hash: string;
  readonly firebase?: { readonly [name: string]: string | number };
};
const { passwords, vectors } = JSON.parse(
  readFileSync(new URL('../../identity/test/data/foreign-hashes.json', import.meta.url), 'utf8'),
) as { readonly passwords: { readonly [name: string]: string }; readonly vectors: Vector[] };
/** The password of a hash that the unit test of hashes uses as well. */
const by = (tool: string) =>
  vectors.filter(
    (vector) =>
      vector.tool.startsWith(tool) &&
      vector.password === 'nfd' &&
      !vector.form.includes('default cost'),
  );

const database = testDatabase();
const { run, folder, printed, remove } = cardeaFixture(() => database.url);
let fixture: ServiceFixture;
let owner: { readonly access: string; readonly tenantId: string };
let machine: { [name: string]: string };
let made = 0;

const as = ({ access, tenantId }: typeof owner) =>
  fixture.rest.as({ bearer: access, tenant: tenantId });
const logIn = (tenant: string, email: string, password: string) =>
  fixture.rest.post('/api/v1/auth/login', { email, password }, { tenant });
async function signUp() {
  made += 1;
  const { body } = await fixture.rest.post('/api/v1/auth/signup', {
    ...{ email: `owner.${made}@example.com`, password: 'correct horse battery' },
    company_name: `Company ${made}`,
  });
  return { access: body.access_token as string, tenantId: body.tenant_id as string };
}
/** The machine's credentials as environment variables. */
async function machineOf(account: typeof owner) {
  const { body } = await as(account).post('/api/v1/admin/applications', {
    ...{ name: 'Import', type: 'm2m', machine_scopes: ['users:write'] },
  });
  return {
    CARDEA_URL: fixture.baseUrl,
    CARDEA_CLIENT_ID: body.client_id as string,
    CARDEA_CLIENT_SECRET: body.client_secret as string,
  };
}
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const imported = async (line: string, env: { [name: string]: string } = machine) => {
  const ran = await run(`users import ${line} --json`, env);
  const said = ran.out
    .trim()
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each));
  return { ...ran, said: said.slice(0, -1), last: said.at(-1) };
};

beforeAll(async () => {
  fixture = await running(database.url);
  owner = await signUp();
  machine = await machineOf(owner);
});
afterAll(async () => {
  await fixture?.stop();
  remove();
});

/** A file of each product, and which user can sign in with which password. */
const products: readonly {
  readonly from: string;
  readonly people: readonly Vector[];
  readonly text: (people: readonly Vector[], email: (at: number) => string) => string;
  readonly more?: () => string;
}[] = [
  {
    from: 'django',
    people: by('Django'),
    text: (people, email) =>
      JSON.stringify(
        people.map(({ hash }, at) => ({
          ...{ model: 'auth.user', pk: at },
          fields: {
            ...{ username: `user${at}`, email: email(at), password: hash, is_active: true },
            ...{ first_name: '', last_name: '', groups: [], user_permissions: [] },
          },
        })),
      ),
  },
  {
    from: 'aspnet',
    people: by('aspnet'),
    text: (people, email) =>
      [
        'Id,Email,EmailConfirmed,PasswordHash',
        ...people.map(({ hash }, at) => `${at},${email(at)},True,${hash}`),
      ].join('\r\n'),
  },
  {
    from: 'firebase',
    people: by('firebase'),
    text: (people, email) =>
      JSON.stringify({
        users: people.map(({ hash, firebase }, at) => ({
          ...{ localId: String(at), email: email(at), emailVerified: true, disabled: false },
          ...{ passwordHash: hash, salt: firebase?.['salt'], providerUserInfo: [] },
        })),
      }),
    more: () => {
      const of = by('firebase')[0]?.firebase ?? {};
      const config = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: ${of['signer_key']},
  base64_salt_separator: ${of['salt_separator']},
  rounds: ${of['rounds']},
  mem_cost: ${of['mem_cost']},
}`;
      return `--hash-config ${file('hash-config.txt', config)}`;
    },
  },
  {
    from: 'keycloak',
    people: by('Keycloak'),
    text: (people, email) =>
      JSON.stringify({
        ...{ id: 'shop', realm: 'shop', enabled: true },
        users: people.map(({ hash }, at) => ({
          ...{ id: String(at), username: `user${at}`, email: email(at), enabled: true },
          emailVerified: true,
          credentials: [{ id: `c${at}`, type: 'password', ...(hash as unknown as object) }],
        })),
      }),
  },
];

/** The users that `django/README.md` lists. */
const DUMPED = [
  { email: 'grace@example.com', password: 'correct horse battery', display_name: 'Grace Hopper' },
  { email: 'alan@example.com', password: 'Grüße vom Schloß 42', display_name: 'Alan Turing' },
  {
    ...{ email: 'edsger@example.com', password: 'go to considered harmful' },
    display_name: 'Edsger Dijkstra',
  },
  { email: 'ada@example.com', password: 'the analytical engine', display_name: 'Ada Lovelace' },
];

/** The users that `keycloak/README.md` lists: Argon2id, PBKDF2 with SHA-512 and with SHA-256. */
const EXPORTED = [
  {
    ...{ email: 'grace@example.com', password: 'correct horse battery' },
    ...{ display_name: 'Grace Hopper', preferred_username: 'grace', email_verified: true },
  },
  {
    ...{ email: 'alan@example.com', password: 'Grüße vom Schloß 42' },
    ...{ display_name: 'Alan Turing', preferred_username: 'alan', email_verified: true },
  },
  {
    ...{ email: 'edsger@example.com', password: 'go to considered harmful' },
    ...{ display_name: 'Edsger Dijkstra', preferred_username: 'edsger', email_verified: false },
  },
];

describe('standards 9 the users of another product', () => {
  it.each(products)(
    'of $from sign in by what they typed there, and are imported once however often it runs',
    async ({ from, people, text, more }) => {
      expect(people.length).toBeGreaterThan(0);
      const email = (at: number) => `${from}.${at}@example.com`;
      const line = `--from ${from} ${more?.() ?? ''} ${file(`${from}.txt`, text(people, email))}`;
      const count = people.length;
      const asked = await imported(line, {});
      expect(asked.last).toMatchObject({ ok: true, users: count, importable: count, refused: 0 });
      expect((await logIn(owner.tenantId, email(0), 'anything')).status).toBe(401);
      const first = await imported(`${line} --apply`);
      expect(first.last).toMatchObject({ ok: true, users: count, imported: count, refused: 0 });
      for (const [at, { password }] of people.entries()) {
        const { status } = await logIn(owner.tenantId, email(at), passwords[password] ?? '');
        expect([email(at), status]).toEqual([email(at), 200]);
      }
      const again = await imported(`${line} --apply`);
      expect(again.last).toMatchObject({ imported: 0, already_there: count, refused: 0 });
    },
  );

  it('that Keycloak itself has exported sign in by their old passwords', async () => {
    const path = fileURLToPath(new URL('./keycloak/exported-users.json', import.meta.url));
    const to = await signUp();
    const line = `--from keycloak ${path} --apply`;
    const { said, last } = await imported(line, await machineOf(to));
    expect([said, last]).toMatchObject([[], { ok: true, users: 3, imported: 3, refused: 0 }]);
    for (const { email, password } of EXPORTED) {
      const wrong = await logIn(to.tenantId, email, `${password}!`);
      const right = await logIn(to.tenantId, email, password);
      expect([email, wrong.status, right.status]).toEqual([email, 401, 200]);
    }
    const { body } = await as(to).get('/api/v1/admin/users?search=example.com');
    const rows = EXPORTED.map(({ password: _, ...row }) => expect.objectContaining(row));
    expect(body.users).toEqual(expect.arrayContaining(rows));
  });

  it('that Django itself has dumped sign in by their old passwords, whichever its hasher', async () => {
    const path = fileURLToPath(new URL('./django/exported-users.json', import.meta.url));
    const to = await signUp();
    const { said, last } = await imported(`--from django ${path} --apply`, await machineOf(to));
    expect(last).toMatchObject({ ok: true, users: 7, imported: 5, refused: 2 });
    // Django writes a single line.
    expect(said).toEqual([
      { line: 1, user: 6, code: 'disabled' },
      { line: 1, user: 7, code: 'no_address' },
    ]);
    for (const { email, password } of DUMPED) {
      const wrong = await logIn(to.tenantId, email, `${password}!`);
      const right = await logIn(to.tenantId, email, password);
      expect([email, wrong.status, right.status]).toEqual([email, 401, 200]);
    }
    const { body } = await as(to).get('/api/v1/admin/users?search=example.com');
    const rows = DUMPED.map(({ password: _, ...row }) =>
      expect.objectContaining({ ...row, roles: ['member'], email_verified: false }),
    );
    expect(body.users).toEqual(expect.arrayContaining(rows));
  });

  it('of Cardea itself go from one tenant to another with their hashes', async () => {
    const from = await signUp();
    const password = 'a password that comes along';
    const users = ['ann', 'bob'].map((name) => ({
      ...{ email: `${name}@round.example`, password, display_name: name },
    }));
    for (const user of users) await as(from).post('/api/v1/admin/users', user);
    const exported = await as(from).get('/api/v1/admin/users/export?include=password_hash');
    const to = await signUp();
    const line = `--from ndjson ${file('users.ndjson', exported.text)}`;
    const { last, said } = await imported(`${line} --apply`, await machineOf(to));
    // A machine gives no role but member, so the owner is not imported.
    expect(last).toMatchObject({ ok: true, users: 3, imported: 2, refused: 1 });
    expect(said).toEqual([{ line: 3, user: 3, code: 'forbidden' }]);
    for (const { email } of users) {
      expect((await logIn(to.tenantId, email, password)).status).toBe(200);
    }
    const there = (await as(to).get('/api/v1/admin/users?email=ann@round.example')).body.users;
    expect(there).toMatchObject([{ display_name: 'ann', roles: ['member'] }]);
  });

  it('that cannot be imported are told by their line and stop nobody else', async () => {
    const lines = [
      { email: 'fine@lines.example' },
      { email: 'no address' },
      { email: 'dear@lines.example', password_hash: `$2b$15$${'a'.repeat(53)}` },
      { email: 'odd@lines.example', password_hash: 'md5$x' },
      { email: 'FINE@lines.example ' },
      { email: 'large@lines.example', public_metadata: { a: 'x'.repeat(5_000) } },
      { email: 'role@lines.example', roles: ['admin'] },
      { email: 'long@lines.example', display_name: 'x'.repeat(5_000) },
      { email: 'number@lines.example', display_name: 7 },
      { email: 'last@lines.example', totp_secret: 'JBSWY3DPEHPK3PXP' },
    ];
    const path = file('lines.ndjson', lines.map((each) => JSON.stringify(each)).join('\n'));
    const local = [
      { line: 2, user: 2, code: 'invalid_email' },
      { line: 3, user: 3, code: 'hash_too_dear' },
      { line: 4, user: 4, code: 'unsupported_hash' },
      { line: 5, user: 5, code: 'duplicate_address' },
      { line: 6, user: 6, code: 'invalid_request' },
    ];
    const asked = await imported(`--from ndjson ${path}`, {});
    expect(asked.said).toEqual(expect.arrayContaining(local));
    const { said, last, code } = await imported(`--from ndjson ${path} --apply`);
    expect(said.toSorted((one, other) => one.line - other.line)).toEqual([
      ...local,
      { line: 7, user: 7, code: 'forbidden' },
      { line: 8, user: 8, code: 'invalid_request' },
      { line: 9, user: 9, code: 'invalid_request' },
    ]);
    expect([code, last.imported]).toEqual([0, 2]);
    const text = await run(`users import --from ndjson ${path}`);
    expect(text.out).toContain('line 2, user 2: invalid_email\n');
    expect(text.out).toContain('Nothing was sent. Add --apply to import them.');
  });

  it('come by more than one page, by a person and by a key', async () => {
    const to = await signUp();
    const lines = Array.from({ length: 250 }, (_, at) => `{"email": "p${at}@pages.example"}`);
    const path = file('pages.ndjson', lines.join('\n'));
    const person = { CARDEA_URL: fixture.baseUrl, CARDEA_ACCESS_TOKEN: to.access };
    const { last } = await imported(`--from ndjson ${path} --apply`, person);
    expect(last).toMatchObject({ users: 250, imported: 250 });
    const { body } = await as(to).get('/api/v1/admin/users?limit=1');
    expect(body.total).toBe(251);
    const { body: key } = await as(to).post('/api/v1/api-keys', {
      ...{ name: 'import', scopes: ['users:write'] },
    });
    const byKey = {
      ...{ CARDEA_URL: fixture.baseUrl, CARDEA_TENANT: to.tenantId },
      CARDEA_API_KEY: key.key as string,
    };
    const again = await imported(`--from ndjson ${path} --apply`, byKey);
    expect(again.last).toMatchObject({ imported: 0, already_there: 250 });
  });
});

describe('standards 9 what the command prints', () => {
  it('is no address, hash, name or credential of anybody', () => {
    const text = printed.join('');
    expect(text).not.toMatch(/@example|@round|@lines|@pages/);
    expect(text).not.toMatch(/\$argon2|pbkdf2_|\$2b\$|AQAAAA/);
    expect(text).not.toContain(machine['CARDEA_CLIENT_SECRET']);
    expect(text).not.toContain(owner.access);
  });

  it.each([
    ['--from django', 2, 'takes <file>'],
    ['--from oracle FILE', 2, '--from takes django, aspnet, firebase, keycloak, ndjson'],
    ['--from firebase FILE', 2, '--hash-config or CARDEA_FIREBASE_HASH_CONFIG'],
    ['--from django /nowhere/at/all', 1, 'the file cannot be read'],
    ['--from django FILE --apply', 78, 'CARDEA_URL is missing'],
  ])('of %s is what is wrong', async (line, code, message) => {
    const path = file('empty.json', '[]');
    const ran = await run(`users import ${line.replace('FILE', path)}`);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(message)]);
  });

  it('says which credentials there may be, and takes none over an open network', async () => {
    const path = file('empty.json', '[]');
    const line = `users import --from django ${path} --apply`;
    const none = await run(line, { CARDEA_URL: 'https://cardea.example.com' });
    expect(none.err).toContain('CARDEA_CLIENT_ID is missing: a machine with the scope users:write');
    const open = { ...machine, CARDEA_URL: 'http://cardea.example.com' };
    expect((await run(line, open)).err).toContain('CARDEA_URL is not safe');
  });
});
