/** requests-oauthlib treats a scope in the response that it did not request as an error. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import {
  application,
  authorizeUrl,
  browser,
  oauthOfFile,
  pkce,
  REDIRECT,
  signIn,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const ROOT = resolve(import.meta.dirname, '../../..');
const OWN_PYTHON = join(ROOT, '.cache/python/bin/python');
/** The environment in which `.ci/run` has installed the libraries, or the system's own. */
const PYTHON = existsSync(OWN_PYTHON) ? OWN_PYTHON : 'python3';
const SCRIPT = join(import.meta.dirname, 'verifiers/fetch_token.py');

async function python(args: readonly string[], input = '') {
  const child = spawn(PYTHON, ['-W', 'ignore::DeprecationWarning', ...args], { stdio: 'pipe' });
  const code = new Promise<number | null>((done) => {
    child.once('error', () => done(null)).once('close', done);
  });
  child.stdin.on('error', () => undefined).end(input);
  const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await code, printed, errors };
}

describe('an application by requests-oauthlib', () => {
  it.for(['openid profile email', 'openid offline_access', 'openid email offline_access'])(
    'that asks for %s is answered with just that, also when it refreshes [oauth 36]',
    async (scope, context) => {
      const { code } = await python(['-c', 'import requests_oauthlib']);
      if (code !== 0) context.skip('no requests-oauthlib: see verifiers/README.md');
      const client = await application(fixture, admin);
      const { verifier, challenge } = pkce();
      const to = authorizeUrl(client, { code_challenge: challenge, scope });
      const answer = await signIn(browser(fixture), to, { account: admin });
      const given = {
        ...{ client_id: client.client_id, redirect_uri: REDIRECT, scope, state: 'the-state' },
        ...{ token_endpoint: `${fixture.baseUrl}/oauth2/token`, answer: answer.href },
        code_verifier: verifier,
      };
      const { printed, errors } = await python([SCRIPT], JSON.stringify(given));
      expect(errors).toBe('');
      const { first, again, error } = JSON.parse(printed);
      const sorted = scope.split(' ').toSorted();
      expect([error, first?.toSorted(), again?.toSorted()]).toEqual([undefined, sorted, sorted]);
    },
  );
});
