/** Tokens for applications, verified by Python and Go libraries as far as each supports it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { testForm } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOf } from './identity-fixture.ts';
import { type LogoutReceiver, logoutReceiver } from './logout-receiver.ts';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const ROOT = resolve(import.meta.dirname, '../../..');
const OWN_PYTHON = join(ROOT, '.cache/python/bin/python');
/** The environment in which `.ci/run` has installed the libraries, or the system's own. */
const PYTHON = existsSync(OWN_PYTHON) ? OWN_PYTHON : 'python3';
const PYTHON_SCRIPT = join(import.meta.dirname, 'verifiers/verify_tokens.py');
const GO_SOURCE = join(import.meta.dirname, 'verifiers/go-oidc');
const GO_BINARY = join(ROOT, '.cache/verifiers/go-oidc');

/** Notices arrive within 2 s on an idle machine; a busy one needs longer. */
const NOTICE_MS_MAX = 30_000;
const OTHER = '00000000-0000-4000-8000-000000000000';

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
type Command = readonly [program: string, ...args: string[]];
type Library = {
  readonly name: string;
  readonly command: Command;
  /** Exits with 0 if the library is present or can be built. */
  readonly probe: Command;
  readonly verifies: readonly Algorithm[];
};

const ofPython = (name: string, module: string, verifies: readonly Algorithm[]): Library => ({
  ...{ name, verifies },
  command: [PYTHON, '-W', 'ignore', PYTHON_SCRIPT, name],
  probe: [PYTHON, '-c', `import ${module}`],
});
const GO_OIDC: Library = {
  name: 'go-oidc',
  command: [GO_BINARY],
  probe: ['go', 'build', '-C', GO_SOURCE, '-o', GO_BINARY, '.'],
  verifies: ['RS256', 'ES256', 'EdDSA'],
};
/** python-jose has no Edwards curves. Authlib and go-oidc know only the older name of EdDSA. */
const LIBRARIES: readonly Library[] = [
  ofPython('joserfc', 'joserfc', ALGORITHMS),
  ofPython('authlib', 'authlib', ['RS256', 'ES256', 'EdDSA']),
  ofPython('python-jose', 'jose', ['RS256', 'ES256']),
  // The long form alone, because a first build takes a minute of both cores.
  ...(testForm.long ? [GO_OIDC] : []),
];

const KINDS = ['id_token', 'logout_token', 'userinfo'] as const;
type Kind = (typeof KINDS)[number];
type Given = {
  readonly kind: Kind;
  readonly alg: string;
  readonly token: string;
  readonly issuer: string;
  readonly audience: string;
};
type Verified = {
  readonly claims?: { readonly sub: string; readonly sid?: string };
  readonly error?: string;
};

/** Runs asynchronously, since the program may call the service in this process. */
async function run([program, ...args]: Command, input = '') {
  const child = spawn(program, args, { stdio: 'pipe' });
  const code = new Promise<number | null>((done) => {
    child.once('error', () => done(null)).once('close', done);
  });
  child.stdin.on('error', () => undefined).end(input);
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, printed, errors };
}

async function verifiedBy(
  { name, command }: Library,
  tokens: readonly Given[],
): Promise<readonly Verified[]> {
  const jwks_uri = `${fixture.baseUrl}/oauth2/jwks`;
  const jwks = await (await fetch(jwks_uri)).json();
  const { code, printed, errors } = await run(command, JSON.stringify({ jwks, jwks_uri, tokens }));
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${errors}`);
  return JSON.parse(printed);
}

/** Another person's claims with the original signature. */
function forged(token: string): string {
  const [header, , signature] = token.split('.');
  const payload = JSON.stringify({ ...claimsOf(token), sub: OTHER });
  return [header, Buffer.from(payload).toString('base64url'), signature].join('.');
}

/** The tokens that one application gets for a person between sign-in and sign-out. */
type Signed = { readonly tokens: { readonly [kind in Kind]: Given }; readonly sid: string };
const signed = new Map<Algorithm, Signed>();
const there = new Map<string, Promise<boolean>>();
let receiver: LogoutReceiver;

async function signedBy(alg: Algorithm): Promise<Signed> {
  const client = await application(fixture, admin, {
    first_party: true,
    id_token_signed_response_alg: alg,
    userinfo_signed_response_alg: alg,
    backchannel_logout_uri: receiver.uri,
  });
  const { id_token, access_token, page } = await authorized(fixture, { client, account: admin });
  const headers = { authorization: `Bearer ${access_token}` };
  const info = await fetch(`${fixture.baseUrl}/oauth2/userinfo`, { headers });
  const sid = String(claimsOf(id_token)['sid']);
  await page.get(`/oauth2/session/end?${new URLSearchParams({ id_token_hint: id_token })}`);
  const notice = await receiver.notice(({ claims }) => claims.sid === sid, NOTICE_MS_MAX);
  const given = (kind: Kind, token: string): Given => ({
    ...{ kind, alg, token, issuer: fixture.issuer, audience: client.client_id },
  });
  const tokens = {
    id_token: given('id_token', id_token),
    logout_token: given('logout_token', notice.token),
    userinfo: given('userinfo', await info.text()),
  };
  return { tokens, sid };
}

beforeAll(async () => {
  mkdirSync(dirname(GO_BINARY), { recursive: true });
  receiver = await logoutReceiver(() => fixture);
  for (const alg of ALGORITHMS) signed.set(alg, await signedBy(alg));
});
afterAll(() => receiver?.close());

/** Probed, and for Go built, once for all kinds of tokens. */
function isThere({ name, probe }: Library): Promise<boolean> {
  const asked = there.get(name) ?? run(probe).then(({ code }) => code === 0);
  there.set(name, asked);
  return asked;
}

const EACH = KINDS.flatMap((kind) => LIBRARIES.map((library) => ({ kind, library })));

describe('a token for an application', () => {
  it.for(EACH)('of kind $kind is verified by $library.name [oauth 27]', async (each, context) => {
    const { kind, library } = each;
    if (!(await isThere(library))) context.skip(`no ${library.name}: see verifiers/README.md`);
    const known = library.verifies.flatMap((alg) => signed.get(alg) ?? []);
    expect(known).toHaveLength(library.verifies.length);
    const given = known.map(({ tokens }) => tokens[kind]);
    const verified = await verifiedBy(library, given);
    for (const [at, { claims, error }] of verified.entries()) {
      expect([error, claims?.sub]).toEqual([undefined, admin.userId]);
      expect(claims?.sid).toBe(kind === 'userinfo' ? undefined : known[at]?.sid);
    }
    const wrong = given.flatMap((token) => [
      { ...token, audience: 'somebody-else' },
      { ...token, token: forged(token.token) },
    ]);
    // A token from the sign-in must not be accepted as a logout token.
    const instead = known.map(({ tokens }) => ({ ...tokens.id_token, kind }));
    const refused = kind === 'logout_token' ? [...wrong, ...instead] : wrong;
    for (const { claims, error } of await verifiedBy(library, refused)) {
      expect([claims, error]).toEqual([undefined, expect.any(String)]);
    }
  });
});
