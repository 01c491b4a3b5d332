/**
 * Whether response times reveal which addresses have accounts. The long form evaluates the times of 500 pairs per
 * endpoint. The short form only checks that both of a pair get the same response.
 */
import { mannWhitney, medianOf, type RestAnswer, testForm, untilTrue } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD } from './identity-fixture.ts';
import {
  application,
  type Browser,
  browser,
  oauthCalls,
  oauthOfFile,
  type TestClient,
} from './oauth-fixture.ts';

const PAIRS = testForm.long ? 500 : 10;
const WARM_UP = testForm.long ? 40 : 1;
const MEDIANS_APART_MAX = 0.05;
const P_MIN = 0.001;
const HOUR_MS = 3_600_000;
const PLAYED_MS_MAX = testForm.long ? 900_000 : 60_000;
/** There are as many known addresses, so that none reaches its own limit. */
const AT_ONCE = 20;

const { fixture, admin } = oauthOfFile({ RATE_LIMIT_FACTOR: '1000000' });
let shop: TestClient;
let known: readonly string[] = [];
beforeAll(async () => {
  shop = await application(fixture, admin);
  const made: string[] = [];
  while (made.length < PAIRS + WARM_UP) {
    const some = Array.from({ length: AT_ONCE }, () => fixture.register(admin.tenantId));
    made.push(...(await Promise.all(some)).map(({ email }) => email));
  }
  known = made;
}, PLAYED_MS_MAX);

const AUTH = '/api/v1/auth';
const post = (path: string, body: object) =>
  fixture.rest.post(`${AUTH}/${path}`, body, { tenant: admin.tenantId });

type Answer = Pick<RestAnswer, 'status' | 'code'>;
type Call = (email: string) => Promise<Answer>;
const WRONG = 'a wrong one of theirs';

/** A new page of the authorization server. */
let page: Browser;
let path: string;
const { authorize } = oauthCalls(() => fixture);
async function openPage(): Promise<void> {
  page = browser(fixture);
  path = (await page.get(authorize(shop))).location;
}
const posted = async (body: object): Promise<Answer> => {
  const answer = await page.post(`${path}/login`, body);
  return { status: answer.status, code: answer.body?.error };
};

/** The calls with which a caller probes an address. Their responses must not depend on it. */
const CALLS: { readonly [name: string]: Call } = {
  login: (email) => post('login', { email, password: WRONG }),
  'interaction/login': (email) => posted({ email, password: WRONG }),
  'forgot-password': (email) => post('forgot-password', { email }),
  'magic-link': (email) => post('magic-link', { email }),
  'otp/send': (email) => post('otp/send', { email }),
  'otp/verify': (email) => post('otp/verify', { email, code: 'K7QF3MXP' }),
  'passkeys/options': (email) => post('passkeys/options', { email }),
};

/** Waits until what follows one response cannot affect the time of the next. */
async function settled(): Promise<void> {
  const { database: pool } = fixture.host.needsOf('identity');
  await untilTrue(async () => {
    const { rows } = await pool.system.query('SELECT 1 FROM identity.mail_queue LIMIT 1');
    return rows.length === 0;
  });
}

async function timed(call: Promise<Answer>, began = performance.now()) {
  const { status, code } = await call;
  return { ms: performance.now() - began, answer: `${status} ${code ?? ''}` };
}

describe('S8 identity 3 the time of an answer', () => {
  it.each(Object.entries(CALLS))(
    'of %s says nothing of the address',
    {
      timeout: PLAYED_MS_MAX,
    },
    async (name, call) => {
      fixture.clock.move(2 * HOUR_MS);
      await openPage();
      const times = { known: [] as number[], unknown: [] as number[] };
      for (const [at, email] of known.entries()) {
        const stranger = `stranger.${name.replaceAll(/\W/g, '.')}.${at}@example.com`;
        const pair = [
          { who: 'known', email },
          { who: 'unknown', email: stranger },
        ] as const;
        const answers: string[] = [];
        for (const one of at % 2 === 0 ? pair : pair.toReversed()) {
          await settled();
          const { ms, answer } = await timed(call(one.email));
          answers.push(answer);
          if (at >= WARM_UP) times[one.who].push(ms);
        }
        expect(answers[0]).toBe(answers[1]);
      }
      if (!testForm.long) return;
      const apart = Math.abs(medianOf(times.known) / medianOf(times.unknown) - 1);
      const p = mannWhitney(times.known, times.unknown);
      const figures = `${name}: medians ${medianOf(times.known).toFixed(3)} and ${medianOf(times.unknown).toFixed(3)} ms, ${(apart * 100).toFixed(1)} % apart, p = ${p.toFixed(4)}`;
      process.stdout.write(`${figures}\n`);
      expect(apart <= MEDIANS_APART_MAX || p >= P_MIN, figures).toBe(true);
    },
  );

  it.each([
    { name: 'register', path: 'register', more: {} },
    { name: 'signup', path: 'signup', more: { company_name: 'Acme' } },
  ])('of $name is told by what it answers and nothing else', async ({ path, more }) => {
    const fields = { password: PASSWORD, ...more };
    const taken = await post(path, { email: admin.email, ...fields });
    const fresh = await post(path, { email: `fresh.${path}@example.com`, ...fields });
    expect([taken.status, fresh.status]).toEqual([201, 201]);
  });
});
