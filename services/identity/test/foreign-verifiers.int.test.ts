/** Tokens for applications, verified by libraries of Python and Go that are not ours, as far as each one can. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const ROOT = resolve(import.meta.dirname, '../../..');
const OWN_PYTHON = join(ROOT, '.cache/python/bin/python');
/** Where `.ci/run` has installed the libraries, or the machine's own. */
const PYTHON = existsSync(OWN_PYTHON) ? OWN_PYTHON : 'python3';
const PYTHON_SCRIPT = join(import.meta.dirname, 'verifiers/verify_tokens.py');
const GO_SOURCE = join(import.meta.dirname, 'verifiers/go-oidc');
const GO_BINARY = join(ROOT, '.cache/verifiers/go-oidc');

const ALGORITHMS = ['RS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
type Algorithm = (typeof ALGORITHMS)[number];
type Command = readonly [program: string, ...args: string[]];
type Library = {
  readonly name: string;
  readonly command: Command;
  /** Ends with 0 where the library is there, or can be made. */
  readonly probe: Command;
  readonly verifies: readonly Algorithm[];
};

const ofPython = (name: string, module: string, verifies: readonly Algorithm[]): Library => ({
  ...{ name, verifies },
  command: [PYTHON, '-W', 'ignore', PYTHON_SCRIPT, name],
  probe: [PYTHON, '-c', `import ${module}`],
});
/** python-jose has no Edwards curves; Authlib and go-oidc know only the older name of EdDSA. */
const LIBRARIES: readonly Library[] = [
  ofPython('joserfc', 'joserfc', ALGORITHMS),
  ofPython('authlib', 'authlib', ['RS256', 'ES256', 'EdDSA']),
  ofPython('python-jose', 'jose', ['RS256', 'ES256']),
  {
    name: 'go-oidc',
    command: [GO_BINARY],
    probe: ['go', 'build', '-C', GO_SOURCE, '-o', GO_BINARY, '.'],
    verifies: ['RS256', 'ES256', 'EdDSA'],
  },
];

type Given = {
  readonly alg: string;
  readonly token: string;
  readonly issuer: string;
  readonly audience: string;
};
type Verified = { readonly claims?: { readonly sub: string }; readonly error?: string };

/** Not synchronous, since the program may ask the service of this very process. */
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

/** The payload of one token under the signature of another. */
function forged(token: string, of: string): string {
  const [header, , signature] = token.split('.');
  return [header, of.split('.')[1], signature].join('.');
}

describe('an id_token', () => {
  const tokens = new Map<Algorithm, Given>();
  beforeAll(async () => {
    mkdirSync(dirname(GO_BINARY), { recursive: true });
    for (const alg of ALGORITHMS) {
      const client = await application(fixture, admin, { id_token_signed_response_alg: alg });
      const { id_token: token } = await authorized(fixture, { client, account: admin });
      tokens.set(alg, { alg, token, issuer: fixture.issuer, audience: client.client_id });
    }
  });

  it.for(LIBRARIES)('is verified by $name [oauth 27]', async (library, context) => {
    const { code } = await run(library.probe);
    if (code !== 0) return context.skip(`no ${library.name}: see verifiers/README.md`);
    const given = library.verifies.flatMap((alg) => tokens.get(alg) ?? []);
    expect(given).toHaveLength(library.verifies.length);
    for (const { claims, error } of await verifiedBy(library, given)) {
      expect([error, claims?.sub]).toEqual([undefined, admin.userId]);
    }
    const wrong = given.flatMap((each, at) => [
      { ...each, audience: 'somebody-else' },
      { ...each, token: forged(each.token, given.at(at - 1)?.token ?? '') },
    ]);
    for (const { claims, error } of await verifiedBy(library, wrong)) {
      expect([claims, error]).toEqual([undefined, expect.any(String)]);
    }
  });
});
