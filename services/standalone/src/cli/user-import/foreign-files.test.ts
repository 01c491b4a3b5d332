import { describe, expect, it } from 'vitest';
import { aspNetUsers } from './aspnet.ts';
import { csvRecords } from './csv-records.ts';
import { djangoUsers } from './django.ts';
import { exportedUsers } from './export-lines.ts';
import { type FileRecord, linesOf, RECORD_CHARACTERS_MAX } from './file-text.ts';
import { firebaseProject, firebaseUsers } from './firebase.ts';
import type { ForeignUser, ReadForeignUsers } from './foreign-user.ts';
import { jsonElements, type WantedArray } from './json-elements.ts';
import { keycloakUsers } from './keycloak.ts';

/** Splits the text into pieces of a given size, so that boundaries fall everywhere. */
async function* pieces(text: string, size: number): AsyncGenerator<string, void> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}
const all = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const result: Item[] = [];
  for await (const item of items) result.push(item);
  return result;
};
const SIZES = [1, 2, 3, 7, 10_000];
const read = (reader: ReadForeignUsers, text: string) => all(reader(pieces(text, 64)));
const usersIn = (found: readonly ForeignUser[]) =>
  found.map((each) => ('user' in each ? { line: each.line, ...each.user } : each));

describe('the elements of a list in JSON', () => {
  const elementsOf = (text: string, wanted: WantedArray, size: number) =>
    all(jsonElements(pieces(text, size), wanted));
  const list = `[
  {"a": "]},{[\\"", "b": [1, {"c": 2}]},
  {}, 3,
  "text, [with] \\\\",
  null
]`;
  it.each(SIZES)('come by line, whatever they hold, in pieces of %i', async (size) => {
    const found = await elementsOf(list, 'whole file', size);
    expect(found.map(({ line, text }) => [line, JSON.parse(text ?? '')])).toEqual([
      [2, { a: ']},{["', b: [1, { c: 2 }] }],
      [3, {}],
      [3, 3],
      [4, 'text, [with] \\'],
      [5, null],
    ]);
  });

  it.each(SIZES)('are those of the named list of an object, in pieces of %i', async (size) => {
    const text = `{"realm": "users", "groups": [{"users": [1]}],
      "clients": {"users": [2]}, "users":
      [ {"id": 3} ], "roles": [4], "users": [5]}`;
    const found = await elementsOf(text, { member: 'users' }, size);
    expect(found.map(({ line, text: each }) => [line, each?.trim()])).toEqual([[3, '{"id": 3}']]);
  });

  it.each([
    ['[{"a": 1}', 'whole file', 'the file was cut'],
    ['{"users": [{"a": "b', { member: 'users' }, 'the file was cut'],
    ['{"users": {}}', { member: 'users' }, 'no list of users'],
    ['[]', { member: 'users' }, 'no list of users'],
    ['{"users": []}', 'whole file', 'no list of users'],
    ['', 'whole file', 'no list of users'],
  ] as const)('are none where the file is %j', async (text, wanted, message) => {
    await expect(elementsOf(text, wanted, 5)).rejects.toThrow(message);
  });

  it('of an empty list are none', async () => {
    expect(await elementsOf(' [ ] ', 'whole file', 1)).toEqual([]);
  });

  it('that are too large are told by their line, and the next one is read', async () => {
    const large = `{"a": "${'x'.repeat(RECORD_CHARACTERS_MAX)}"}`;
    const found = await elementsOf(`[\n${large},\n{"b": 1}]`, 'whole file', 1_000);
    expect(found).toEqual<FileRecord[]>([
      { line: 2, text: undefined },
      { line: 3, text: '{"b": 1}' },
    ]);
  });
});

describe('lines', () => {
  it.each(SIZES)('are numbered, and empty ones count, in pieces of %i', async (size) => {
    expect(await all(linesOf(pieces('a\r\n\n  \nb', size)))).toEqual([
      { line: 1, text: 'a\r' },
      { line: 4, text: 'b' },
    ]);
  });

  it('that are too long are told, and do not become the next one', async () => {
    const long = 'x'.repeat(RECORD_CHARACTERS_MAX + 10);
    expect(await all(linesOf(pieces(`${long}\nb\n`, 1_000)))).toEqual([
      { line: 1, text: undefined },
      { line: 2, text: 'b' },
    ]);
  });
});

describe('records of a CSV file', () => {
  const recordsOf = async (text: string, size = 3) =>
    (await all(csvRecords(pieces(text, size)))).map(({ line, fields }) => [
      line,
      fields === undefined ? undefined : Object.fromEntries(fields),
    ]);
  it.each(SIZES)('are read as RFC 4180 has them, in pieces of %i', async (size) => {
    const text = 'Id,"Name"\r\n1,"Ann, ""the""\nfirst"\r\n\r\n2,\r\n"",""\r\n4,b"c';
    expect(await recordsOf(text, size)).toEqual([
      [2, { id: '1', name: 'Ann, "the"\nfirst' }],
      [5, { id: '2', name: '' }],
      [6, { id: '', name: '' }],
      [7, { id: '4', name: 'b"c' }],
    ]);
  });

  it('may be separated by semicolons or tabs, as the first line is', async () => {
    expect(await recordsOf('a;b\n1,5;2\n')).toEqual([[2, { a: '1,5', b: '2' }]]);
    expect(await recordsOf('a\tb\n1;5\t2')).toEqual([[2, { a: '1;5', b: '2' }]]);
  });

  it('with another number of fields are told by their line', async () => {
    expect(await recordsOf('a,b\n1\n1,2\n')).toEqual([
      [2, undefined],
      [3, { a: '1', b: '2' }],
    ]);
  });

  it('that end in a quoted field were cut', async () => {
    await expect(recordsOf('a,b\n1,"2')).rejects.toThrow('the file was cut');
  });
});

describe('standards 9 the users of', () => {
  it('Django are those of dumpdata, without passwords that open nothing', async () => {
    const of = (fields: object, model = 'auth.user') => JSON.stringify({ model, pk: 1, fields });
    const ann = {
      ...{ username: 'ann', email: 'ann@example.com', first_name: 'Ann', last_name: 'Lee' },
      ...{ password: 'pbkdf2_sha256$1200$salt$hash', is_active: true, is_superuser: true },
    };
    const text = `[\n${[
      of(ann),
      of({ ...ann, email: 'bob@example.com', username: 'bob@example.com', password: '!x' }),
      of({ ...ann, email: '' }),
      of({ ...ann, is_active: false }),
      of({ name: 'Can add user', codename: 'add_user' }, 'auth.permission'),
      of({ ...ann, first_name: '' }, 'shop.customer'),
    ].join(',\n')}\n]`;
    const common = { display_name: 'Ann Lee', preferred_username: 'ann' };
    const hash = { password_hash: ann.password };
    expect(usersIn(await read(djangoUsers({ areVerified: false }), text))).toEqual([
      { line: 2, email: 'ann@example.com', ...hash, ...common },
      { line: 3, email: 'bob@example.com', display_name: 'Ann Lee' },
      { line: 4, refused: 'no_address' },
      { line: 5, refused: 'disabled' },
      { line: 6, refused: 'not_a_user' },
      { line: 7, email: 'ann@example.com', ...hash, ...common, display_name: 'Lee' },
    ]);
    const [first] = await read(djangoUsers({ areVerified: true }), text);
    expect(first).toMatchObject({ user: { email_verified: true } });
  });

  it('ASP.NET Identity are rows of AspNetUsers, however a database prints them', async () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const text = `Id,UserName,Email,EmailConfirmed,PasswordHash,LockoutEnd,TwoFactorEnabled
1,ann,ann@example.com,True,AQAAAAEAACcQ,NULL,0
2,bob@example.com,bob@example.com,f,NULL,2020-01-01 00:00:00.0000000 +00:00,1
3,eve,eve@example.com,1,AQ==,9999-12-31T23:59:59.9999999+00:00,0
4,nobody,NULL,0,AQ==,,0
5,broken
6,zoe,zoe@example.com,1,AQ==,infinity,0
`;
    const found = await read(aspNetUsers({ now }), text);
    expect(usersIn(found)).toEqual([
      {
        ...{ line: 2, email: 'ann@example.com', email_verified: true },
        ...{ password_hash: 'AQAAAAEAACcQ', preferred_username: 'ann' },
      },
      { line: 3, email: 'bob@example.com', email_verified: false },
      { line: 4, refused: 'disabled' },
      { line: 5, refused: 'no_address' },
      { line: 6, refused: 'unreadable' },
      { line: 7, refused: 'disabled' },
    ]);
    expect(found[1]).toMatchObject({ notes: ['second_factor_left'] });
  });

  const CONSOLE = `hash_config {
  algorithm: SCRYPT,
  base64_signer_key: jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==,
  base64_salt_separator: Bw==,
  rounds: 8,
  mem_cost: 14,
}`;
  const project = {
    signer_key:
      'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
    ...{ salt_separator: 'Bw==', rounds: 8, mem_cost: 14 },
  };

  it('Firebase come with the salt of each and the parameters of the project', async () => {
    expect(firebaseProject({ CARDEA_FIREBASE_HASH_CONFIG: CONSOLE }, undefined)).toEqual(project);
    const json = JSON.stringify({
      ...{ base64_signer_key: project.signer_key, base64_salt_separator: '' },
      ...{ rounds: 8, mem_cost: 14 },
    });
    expect(firebaseProject({ CARDEA_FIREBASE_HASH_CONFIG: json }, undefined)).toEqual({
      ...project,
      salt_separator: '',
    });
    for (const wrong of ['', 'rounds: 8', CONSOLE.replace('14', '99')]) {
      expect(() => firebaseProject({ CARDEA_FIREBASE_HASH_CONFIG: wrong }, undefined)).toThrow();
    }
    const text = JSON.stringify(
      {
        users: [
          {
            ...{ localId: 'a', email: 'ann@example.com', emailVerified: true },
            ...{ passwordHash: 'aGFzaA==', salt: 'c2FsdA==', displayName: 'Ann' },
            ...{ photoUrl: 'https://cdn.example/a.png', disabled: false, providerUserInfo: [] },
          },
          {
            ...{ localId: 'b', email: 'bob@example.com', photoUrl: 'http://cdn.example/b.png' },
            mfaInfo: [{ mfaEnrollmentId: 'x' }],
          },
          { localId: 'c', phoneNumber: '+431' },
          { localId: 'd', email: 'dan@example.com', disabled: true },
          { localId: 'e', email: 'eve@example.com', passwordHash: 'aGFzaA==' },
        ],
      },
      null,
      1,
    );
    const found = await read(firebaseUsers(project), text);
    expect(usersIn(found).map(({ line: _line, ...user }) => user)).toEqual([
      {
        ...{ email: 'ann@example.com', email_verified: true, password_hash: 'aGFzaA==' },
        ...{ display_name: 'Ann', avatar_url: 'https://cdn.example/a.png' },
        firebase: { salt: 'c2FsdA==', ...project },
      },
      { email: 'bob@example.com', email_verified: false },
      { refused: 'no_address' },
      { refused: 'disabled' },
      { refused: 'unsupported_hash' },
    ]);
    expect(found[1]).toMatchObject({ notes: ['second_factor_left'] });
  });

  it('Keycloak bring the credential as it is, and an authenticator app that counts as ours', async () => {
    const password = {
      ...{ id: 'p', type: 'password', createdDate: 1 },
      secretData: '{"value":"dmFsdWU=","salt":"c2FsdA==","additionalParameters":{}}',
      credentialData: '{"hashIterations":5,"algorithm":"argon2","additionalParameters":{}}',
    };
    const { secretData, credentialData } = password;
    const otp = (more: object) => ({
      ...{ id: 'o', type: 'otp', secretData: '{"value":"12345678901234567890"}' },
      credentialData: JSON.stringify({
        ...{ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' },
        ...more,
      }),
    });
    const ann = {
      ...{ id: '1', username: 'ann', firstName: 'Ann', lastName: 'Lee', emailVerified: true },
      ...{ email: 'ann@example.com', enabled: true, attributes: { locale: ['de'] } },
    };
    const text = JSON.stringify({
      realm: 'shop',
      users: [
        { ...ann, credentials: [password, otp({})] },
        { ...ann, credentials: [otp({ digits: 8 }), password] },
        { ...ann, username: 'ann@example.com', credentials: [] },
        { ...ann, enabled: false },
        { ...ann, email: undefined, serviceAccountClientId: 'shop' },
        { ...ann, email: undefined },
        { ...ann, credentials: [{ type: 'password', hashedSaltedValue: 'x', salt: 'y' }] },
      ],
    });
    const found = await read(keycloakUsers, text);
    const common = {
      ...{ line: 1, email: 'ann@example.com', email_verified: true },
      ...{ display_name: 'Ann Lee', locale: 'de' },
    };
    const hash = { password_hash: { secretData, credentialData }, preferred_username: 'ann' };
    // The key of RFC 6238 with 20 digits.
    const totp_secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    expect(usersIn(found)).toEqual([
      { ...common, ...hash, totp_secret },
      { ...common, ...hash },
      common,
      { line: 1, refused: 'disabled' },
      { line: 1, refused: 'not_a_user' },
      { line: 1, refused: 'no_address' },
      { line: 1, refused: 'unsupported_hash' },
    ]);
    expect(found.slice(0, 2)).toMatchObject([{ notes: [] }, { notes: ['second_factor_left'] }]);
  });

  it('an export of Cardea are its lines, and a file without its last line was cut', async () => {
    const bob = {
      ...{ id: '1', email: 'bob@example.com', email_verified: true, display_name: null },
      ...{ roles: ['member'], status: 'active', vouched: true, created_at: 'x' },
      ...{ mfa_enabled: true, password_hash: '$argon2id$' },
    };
    const line = JSON.stringify(bob);
    const off = JSON.stringify({ ...bob, status: 'disabled' });
    const end = (count: number) => JSON.stringify({ end: true, count });
    const found = await read(exportedUsers, [line, off, end(2), ''].join('\n'));
    expect(found).toEqual([
      {
        line: 1,
        user: {
          ...{ email: bob.email, email_verified: true, roles: ['member'] },
          password_hash: '$argon2id$',
        },
        notes: ['second_factor_left'],
      },
      { line: 2, refused: 'disabled' },
    ]);
    for (const cut of [`${line}\n`, `${line}\n${end(2)}\n`]) {
      await expect(read(exportedUsers, cut)).rejects.toThrow('the file was cut');
    }
    const own = '{"email": "ann@example.com", "public_metadata": {"a": 1}}\nnone\n{"email": ""}';
    expect(usersIn(await read(exportedUsers, own))).toEqual([
      { line: 1, email: 'ann@example.com', public_metadata: { a: 1 } },
      { line: 2, refused: 'unreadable' },
      { line: 3, refused: 'no_address' },
    ]);
  });
});
