/**
 * Two people use two tabs of one browser and send their requests in any order. Each tab ends at its application or at a
 * page that a person can read. No order, and no going back, ends with a JSON response.
 */
import { seededRandom, testForm } from '@cardea/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, PASSWORD } from './identity-fixture.ts';
import {
  application,
  authorizeUrl,
  type Browser,
  browser,
  oauthOfFile,
  pkce,
  REDIRECT,
  type TestClient,
} from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile({ RATE_LIMIT_FACTOR: '100000' });
const STEPS_MAX = 24;
/** All orders of two tabs with four requests each are tried. */
const SHORT_STEPS = 4;
/** The number of longer flows that are tried. Each seed selects different ones. */
const LONG_ORDERS = testForm.long ? 400 : 40;
const LONG_STEPS = 9;
/** After each group of this many orders, all addresses and forms are used again. */
const REPEATED_EVERY = 3;
const TEST_MS_MAX = 240_000;

let people: readonly [Account, Account];
/** One application only requires a sign-in. The other one also requires consent. */
let clients: { readonly own: TestClient; readonly foreign: TestClient };
beforeAll(async () => {
  people = [await fixture.register(admin.tenantId), await fixture.register(admin.tenantId)];
  clients = {
    own: await application(fixture, admin, { first_party: true }),
    foreign: await application(fixture, admin),
  };
});

type Answer = Awaited<ReturnType<Browser['get']>>;
type Tab = {
  /** Makes one request as the person would, from what the tab shows. */
  readonly step: () => Promise<void>;
  readonly isOver: () => boolean;
  readonly isBack: () => boolean;
  /** The addresses that the tab has visited. */
  readonly visited: readonly string[];
};

/** Responses that no person can read: neither a page nor a redirect to one. */
function unreadable(asked: string, answer: Answer): readonly string[] {
  const isRedirect = answer.status === 303 || answer.status === 302;
  const type = answer.headers.get('content-type') ?? '';
  if (isRedirect ? answer.location !== '' : type.startsWith('text/html')) return [];
  return [`${asked}: ${answer.status} ${type} ${answer.text.slice(0, 120)}`];
}

function tabOf(
  page: Browser,
  who: Account,
  of: { readonly client: TestClient; readonly more: { [name: string]: string } },
  faults: string[],
): Tab {
  const visited: string[] = [];
  let at = authorizeUrl(of.client, { code_challenge: pkce().challenge, ...of.more });
  let shown: Answer | undefined;
  let steps = 0;
  const press = (text: string): Promise<Answer> | undefined => {
    if (text.includes('name="password"')) {
      return page.form(`${at}/login`, { email: who.email, password: PASSWORD });
    }
    if (text.includes('/account"')) return page.form(`${at}/account`, {});
    if (text.includes('/consent"')) {
      const names = [...text.matchAll(/name="(scope:[^"]+)"/g)].map(([, name = '']) => name);
      return page.form(`${at}/consent`, Object.fromEntries(names.map((name) => [name, 'on'])));
    }
    return undefined;
  };
  let isOver = false;
  const step = async (): Promise<void> => {
    steps += 1;
    const pressed = shown === undefined ? page.get(at) : press(shown.text);
    if (pressed === undefined) {
      isOver = true;
      return;
    }
    visited.push(at);
    const answer = await pressed;
    faults.push(...unreadable(at, answer));
    shown = answer.status === 200 ? answer : undefined;
    if (answer.location !== '') at = new URL(answer.location, fixture.issuer).href;
    // A tab ends at a page with an error, and at the application.
    isOver = answer.status >= 400 || at.startsWith(REDIRECT) || steps >= STEPS_MAX;
    if (steps >= STEPS_MAX) faults.push(`no end: ${at}`);
  };
  return { step, isOver: () => isOver, isBack: () => at.startsWith(REDIRECT), visited };
}

type Played = { readonly faults: readonly string[]; readonly back: number };

/** Runs the order, and then each tab to its end. After that it opens every address and sends every form again. */
async function played(
  order: readonly number[],
  of: {
    readonly client: TestClient;
    readonly more: { [name: string]: string };
    readonly isRepeated: boolean;
  },
): Promise<Played> {
  const faults: string[] = [];
  const page = browser(fixture);
  const tabs = people.map((who) => tabOf(page, who, of, faults)) as [Tab, Tab];
  for (const which of order) {
    const tab = tabs[which === 0 ? 0 : 1];
    if (!tab.isOver()) await tab.step();
  }
  for (const tab of tabs) while (!tab.isOver()) await tab.step();
  const back = tabs.filter(({ isBack }) => isBack()).length;
  if (!of.isRepeated) return { faults, back };
  for (const address of new Set(tabs.flatMap(({ visited }) => visited))) {
    faults.push(...unreadable(`again ${address}`, await page.get(address)));
    if (!address.includes('/oauth2/interaction/')) continue;
    for (const form of ['login', 'consent', 'account', 'restart', 'abort']) {
      const fields = form === 'login' ? { email: people[0].email, password: PASSWORD } : {};
      const answer = await page.form(`${address}/${form}`, fields);
      faults.push(...unreadable(`again ${address}/${form}`, answer));
    }
  }
  return { faults, back };
}

/** All orders of the given numbers of requests of the two tabs. */
function ordersOf(first: number, second: number): readonly (readonly number[])[] {
  if (first === 0 || second === 0) return [[...Array(first).fill(0), ...Array(second).fill(1)]];
  return [
    ...ordersOf(first - 1, second).map((order) => [0, ...order]),
    ...ordersOf(first, second - 1).map((order) => [1, ...order]),
  ];
}

describe('two people in two tabs of one browser [oauth-31]', () => {
  it(
    'end at their application or at a page, never at JSON, in every order of their requests',
    async () => {
      const faults: string[] = [];
      const orders = ordersOf(SHORT_STEPS, SHORT_STEPS);
      let back = 0;
      for (const [nth, order] of orders.entries()) {
        const of = { client: clients.own, more: {}, isRepeated: nth % REPEATED_EVERY === 0 };
        const found = await played(order, of);
        faults.push(...found.faults.map((fault) => `${order.join('')}: ${fault}`));
        back += found.back;
      }
      expect(faults).toEqual([]);
      expect(back).toBe(2 * orders.length);
    },
    TEST_MS_MAX,
  );

  it(
    'end so, too, where they are asked for consent, for an account or to sign in once more',
    async () => {
      const random = seededRandom(String(testForm.seed));
      const faults: string[] = [];
      let back = 0;
      const prompts = [
        {},
        { prompt: 'login' },
        { prompt: 'select_account' },
        { prompt: 'consent' },
      ];
      for (let nth = 0; nth < LONG_ORDERS; nth += 1) {
        const order = [...random.bytes(2 * LONG_STEPS)].map((byte) => byte % 2);
        const more: { [name: string]: string } = { ...prompts[nth % prompts.length] };
        const isRepeated = nth % REPEATED_EVERY === 0;
        const found = await played(order, { client: clients.foreign, more, isRepeated });
        faults.push(
          ...found.faults.map((fault) => `${order.join('')} ${more['prompt']}: ${fault}`),
        );
        back += found.back;
      }
      expect(faults).toEqual([]);
      // If another person has signed in, the first person is asked again and may not finish within the steps of a tab.
      expect(back).toBeGreaterThan(LONG_ORDERS);
    },
    TEST_MS_MAX,
  );
});
