import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { argon2 } from './argon2.ts';
import { type ForeignHash, storedHash } from './foreign-hash-forms.ts';
import { withImportedHashes } from './imported-hashes.ts';

type Vectors = {
  readonly passwords: Readonly<Record<string, string>>;
  readonly vectors: readonly (ForeignHash & {
    readonly tool: string;
    readonly form: string;
    readonly password: string;
  })[];
};

/** The file names the tools and versions that made the hashes. */
const { passwords, vectors }: Vectors = JSON.parse(
  readFileSync(new URL('../../test/data/foreign-hashes.json', import.meta.url), 'utf8'),
);
const all = withImportedHashes(argon2({ memoryKib: 64, time: 1 }));
const padded = (phc: string) =>
  phc
    .split('$')
    .map((part, at) => (at > 2 && !part.includes('=') ? part.padEnd(part.length + 3, '=') : part))
    .join('$');

describe('a password hash of another product', () => {
  it.each(vectors)(
    'identity 20 of $tool, $form, $password, fits the password that it was made of',
    async ({ password, ...foreign }) => {
      const typed = passwords[password] ?? '';
      const phc = storedHash(foreign) ?? '';
      expect(all.costOf(phc)).toMatchObject({ sample: expect.any(String) });
      expect(all.isOutdated(phc)).toBe(true);
      expect(await all.verify(phc, typed)).toBe(true);
      expect(await all.verify(phc, `x${typed}`)).toBe(false);
    },
  );

  it.each(vectors)(
    'P8 of $tool, $form, $password, has a sample that costs as much and fits nothing',
    async (foreign) => {
      const cost = all.costOf(storedHash(foreign) ?? '');
      if (typeof cost !== 'object') throw new Error('it is known');
      expect(all.costOf(cost.sample)).toEqual(cost);
      expect(await all.verify(cost.sample, passwords[foreign.password] ?? '')).toBe(false);
    },
  );

  it.each(vectors.filter(({ hash }) => typeof hash === 'string' && hash.startsWith('$')))(
    'identity 20 of $tool, $form, $password, is the same with padding',
    ({ hash }) => {
      expect(storedHash({ hash: padded(String(hash)) })).toBe(storedHash({ hash }));
    },
  );

  it.each(
    vectors.flatMap(({ hash, ...foreign }) =>
      typeof hash === 'string' && hash.endsWith('=') ? [{ ...foreign, hash }] : [],
    ),
  )('identity 20 of $tool, $form, $password, is the same without padding', ({ hash, firebase }) => {
    expect(storedHash({ hash: hash.replace(/=+$/, ''), firebase })).toBe(
      storedHash({ hash, firebase }),
    );
  });

  const [firebase] = vectors.flatMap((vector) => vector.firebase ?? []);
  const keycloak = (credential: object, secret: object = { value: 'AAAA', salt: 'AAAA' }) => ({
    hash: { secretData: JSON.stringify(secret), credentialData: JSON.stringify(credential) },
  });
  const argon2Of = (more: object) =>
    keycloak({
      ...{ algorithm: 'argon2', hashIterations: 2 },
      additionalParameters: {
        ...{ type: ['id'], version: ['1.3'], memory: ['64'], parallelism: ['1'], ...more },
      },
    });
  const broken: readonly (readonly [string, ForeignHash])[] = [
    ['no hash', { hash: 'hello' }],
    ['base64 of nothing known', { hash: 'AAECAwQFBgc' }],
    ['ASP.NET with a salt beyond its end', { hash: 'AQAAAAEAACcQAAD//wAAAAAAAAAA' }],
    ['ASP.NET with an unknown function', { hash: 'AQAAAAkAACcQAAAAEJ8QLshgRM+cSc88hgfwQR2/NHE' }],
    ['ASP.NET that ends in its header', { hash: 'AQAAAAEAACcQAAAA' }],
    ['Django with a broken N', { hash: 'scrypt$1000$salt$8$1$AAAAAAAAAAAAAAAAAAAAAA==' }],
    ['Django that is unusable', { hash: '!Ljw1hJvbGOJ2KiYYdYr5OQ' }],
    [
      'scrypt whose N is too large for its r',
      { hash: '$scrypt$ln=16,r=1,p=1$AAAAAAAA$AAAAAAAAAAAAAAAA' },
    ],
    [
      'Firebase with a broken key',
      { hash: 'AAAA', firebase: firebase && { ...firebase, signer_key: '*' } },
    ],
    ['Firebase with a key of another length', { hash: 'AAAAAAAAAAAAAAAA', firebase }],
    ['Keycloak without JSON', { hash: { secretData: 'x', credentialData: '[' } }],
    ['Keycloak with null', { hash: { secretData: 'null', credentialData: 'null' } }],
    ['Keycloak with an unknown function', keycloak({ algorithm: 'md5', hashIterations: 1 })],
    ['Keycloak with a name of objects', keycloak({ algorithm: 'constructor', hashIterations: 1 })],
    ['Keycloak with text for a number', keycloak({ algorithm: 'pbkdf2', hashIterations: '1' })],
    ['Keycloak with an argon2 of no type', argon2Of({ type: ['x'] })],
    ['Keycloak with an argon2 of no version', argon2Of({ version: ['2'] })],
    ['Keycloak with an argon2 of broken memory', argon2Of({ memory: ['64,t=9'] })],
  ];
  it.each(broken)('identity 20 is unknown where it is broken: %s', (_, foreign) => {
    const phc = storedHash(foreign);
    expect(phc === undefined ? undefined : all.costOf(phc)).toBeUndefined();
  });

  const dear: readonly (readonly [string, ForeignHash])[] = [
    ['Django PBKDF2', { hash: 'pbkdf2_sha256$2000001$salt$AAAAAAAAAAAAAAAAAAAAAA==' }],
    ['Django scrypt', { hash: 'scrypt$262144$salt$8$2$AAAAAAAAAAAAAAAAAAAAAA==' }],
    ['Django bcrypt', { hash: `bcrypt_sha256$$2b$15$${'a'.repeat(53)}` }],
    ['ASP.NET', { hash: 'AQAAAAH/////AAAABHNhbHQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==' }],
    [
      'Firebase',
      { hash: firebase?.signer_key ?? '', firebase: firebase && { ...firebase, mem_cost: 19 } },
    ],
    [
      'Keycloak PBKDF2',
      keycloak(
        { algorithm: 'pbkdf2-sha512', hashIterations: 2_000_001 },
        { value: 'A'.repeat(40), salt: 'A'.repeat(20) },
      ),
    ],
    ['scrypt by its lanes alone', { hash: '$scrypt$ln=1,r=1,p=2097153$AAAAAAAA$AAAAAAAAAAAAAAAA' }],
  ];
  it.each(dear)('C7 of %s is refused above its ceiling', (_, foreign) => {
    expect(all.costOf(storedHash(foreign) ?? '')).toBe('too_dear');
  });

  it('C7 of scrypt counts its lanes as memory, and is verified with many of them', async () => {
    const phc = '$scrypt$ln=1,r=4096,p=60$AAAAAAAA$AAAAAAAAAAAAAAAA';
    expect(all.costOf(phc)).toMatchObject({ workMs: expect.any(Number) });
    expect(await all.verify(phc, 'anything')).toBe(false);
    expect(all.costOf('$scrypt$ln=1,r=8192,p=250$AAAAAAAA$AAAAAAAAAAAAAAAA')).toBe('too_dear');
  });
});
