/** A form of the account's pages has the effect of its endpoint, with the same events, published events and faults. */
import type { Contract } from '@cardea/http';
import { pageCookies } from '@cardea/pages';
import { publishedBy, type RestAnswer, type RestDriver } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { signedIn } from './account-pages-fixture.ts';
import { EMAIL, NEW, newEmail } from './email-change-fixture.ts';
import { type Account, PASSWORD } from './identity-fixture.ts';
import { nextCode, withTotp } from './mfa-fixture.ts';
import { application, authorized, oauthOfFile } from './oauth-fixture.ts';

const { fixture, admin } = oauthOfFile();
const STEP_UP_MS = 600_000;
const SERVICES = [{ service_name: 'warehouse', fields: ['username'] }];

type Values = { readonly [name: string]: string };
/** One action of a person, as form fields and as a client's JSON. */
type Deed = { readonly params?: Values; readonly typed?: Values; readonly body?: object };
type Row = {
  readonly page: string;
  readonly form: string;
  readonly operation: string;
  /** Makes what the deed is about. */
  readonly prepare: (of: Account, as: RestDriver) => Deed | Promise<Deed>;
  /** What a browser alone can do right. */
  readonly isFault?: true;
  readonly isUnverified?: true;
  /** Fields whose name in the form differs from that in the body. */
  readonly typedAs?: Values;
};

const none = (): Deed => ({});
const SECURITY = '/account/security';

async function delegated(of: Account) {
  const agent = await fixture
    .as(await fixture.signInAgain(admin))
    .post('/api/v1/agents', { name: `bot ${of.userId}`, services: SERVICES });
  const delegation = { agent_id: agent.body.id, services: SERVICES };
  const made = await fixture.as(of).post('/api/v1/me/delegations', delegation);
  return { agentId: String(agent.body.id), delegationId: String(made.body.id) };
}

const ROWS: readonly Row[] = [
  {
    page: '/account/profile',
    form: 'profile',
    operation: 'update_profile',
    prepare: () => ({ typed: { display_name: 'Ann' }, body: { display_name: 'Ann' } }),
  },
  {
    page: '/account/email',
    form: 'change',
    operation: 'request_email_change',
    prepare: () => {
      const email = newEmail();
      return { typed: { email }, body: { email } };
    },
  },
  {
    page: '/account/email',
    form: 'verify',
    operation: 'verify_my_email_change',
    prepare: async (_of, as) => {
      const email = newEmail();
      await as.post(EMAIL, { email });
      const { code } = await fixture.mail(email, NEW);
      return { typed: { code }, body: { code } };
    },
  },
  {
    page: '/account/email',
    form: 'stop',
    operation: 'stop_my_email_change',
    prepare: async (_of, as) => {
      await as.post(EMAIL, { email: newEmail() });
      return {};
    },
  },
  {
    page: '/account/email',
    form: 'resend',
    operation: 'resend_verification',
    isUnverified: true,
    prepare: none,
  },
  { page: '/account/data', form: 'export', operation: 'export_my_account', prepare: none },
  {
    page: '/account/data',
    form: 'delete',
    operation: 'schedule_deletion',
    typedAs: { confirm: 'confirmed_by' },
    prepare: ({ email }) => ({ typed: { confirmed_by: email }, body: { confirm: email } }),
  },
  {
    page: '/account/data',
    form: 'keep',
    operation: 'cancel_deletion',
    prepare: async ({ email }, as) => {
      await as.post('/api/v1/user/deletion', { confirm: email });
      return {};
    },
  },
  {
    page: SECURITY,
    form: 'password',
    operation: 'change_password',
    prepare: () => {
      const typed = { current_password: PASSWORD, new_password: 'another long password of mine' };
      return { typed, body: typed };
    },
  },
  { page: SECURITY, form: 'enrol_totp', operation: 'enrol_totp', prepare: none },
  {
    page: SECURITY,
    form: 'confirm_totp',
    operation: 'confirm_totp',
    prepare: async (of) => {
      const { body } = await fixture.as(of).post('/api/v1/me/mfa/totp');
      const typed = { code: nextCode(fixture, body.secret) };
      return { params: { id: body.factor_id }, typed, body: typed };
    },
  },
  {
    page: SECURITY,
    form: 'remove_factor',
    operation: 'remove_second_factor',
    prepare: async (of) => ({ params: { id: (await withTotp(fixture, of)).factorId } }),
  },
  {
    page: SECURITY,
    form: 'renew_codes',
    operation: 'renew_recovery_codes',
    prepare: async (of) => {
      await withTotp(fixture, of);
      return {};
    },
  },
  {
    page: SECURITY,
    form: 'add_passkey',
    operation: 'add_passkey',
    isFault: true,
    prepare: () => {
      const response = { id: 'a', rawId: 'a', type: 'public-key', response: {} };
      const typed = { challenge_id: 'none', response: JSON.stringify(response) };
      return { typed, body: { challenge_id: 'none', response } };
    },
  },
  {
    page: SECURITY,
    form: 'rename_passkey',
    operation: 'rename_passkey',
    isFault: true,
    prepare: () => ({ params: { id: 'nobody' }, typed: { name: 'Key' }, body: { name: 'Key' } }),
  },
  {
    page: SECURITY,
    form: 'remove_passkey',
    operation: 'remove_passkey',
    isFault: true,
    prepare: () => ({ params: { id: 'nobody' } }),
  },
  {
    page: SECURITY,
    form: 'unlink',
    operation: 'unlink_my_identity',
    isFault: true,
    prepare: () => ({ params: { provider: 'github' } }),
  },
  {
    page: '/account/sessions',
    form: 'end',
    operation: 'revoke_my_session',
    prepare: async (of) => {
      const { body } = await fixture.as(of).get('/api/v1/me/sessions');
      const other = body.sessions.find((each: { current: boolean }) => each.current);
      return { params: { id: other.id } };
    },
  },
  {
    page: '/account/sessions',
    form: 'end_others',
    operation: 'revoke_my_other_sessions',
    prepare: none,
  },
  {
    page: '/account/applications',
    form: 'revoke',
    operation: 'revoke_consent',
    prepare: async (of) => {
      const again = await fixture.signInAgain(admin);
      const client = await application(fixture, again, { name: `Shop ${of.userId}` });
      await authorized(fixture, { client, account: of });
      const { body } = await fixture.as(of).get('/api/v1/auth/consents');
      return { params: { id: body.consents[0].id } };
    },
  },
  {
    page: '/account/agents',
    form: 'withdraw',
    operation: 'withdraw_delegation',
    prepare: async (of) => ({ params: { id: (await delegated(of)).delegationId } }),
  },
  {
    page: '/account/agents',
    form: 'end_all',
    operation: 'withdraw_all_delegations',
    prepare: async (of) => {
      await delegated(of);
      return {};
    },
  },
  {
    page: '/account/agents',
    form: 'end',
    operation: 'end_agent_session',
    prepare: async (of) => {
      const { agentId } = await delegated(of);
      const again = await fixture.signInAgain(admin);
      const key = await fixture.as(again).post(`/api/v1/agents/${agentId}/keys`, { name: 'ci' });
      const agent = fixture.rest.as({ tenant: admin.tenantId, bearer: key.body.key });
      const body = { services: SERVICES, subject_token: of.access };
      const session = await agent.post('/api/v1/agent/sessions', body);
      return { params: { id: session.body.data.id } };
    },
  },
];

const contractOf = (operation: string): Contract => {
  const found = fixture.host.endpoints.find(({ contract }) => contract.name === operation);
  if (found === undefined) throw new Error(`no endpoint is called ${operation}`);
  return found.contract;
};

type Property = { readonly maxLength?: number; readonly anyOf?: readonly Property[] };

/** Each way in which the schemas of an endpoint can be hurt by what somebody types. */
function faultsOf({ operation, typedAs = {} }: Row) {
  const { body, params, method } = contractOf(operation);
  const fields = (body as { properties?: { [name: string]: Property } } | undefined)?.properties;
  const required = (body as { required?: readonly string[] } | undefined)?.required ?? [];
  const isPatch = method === 'patch';
  const longest = ({ maxLength, anyOf = [] }: Property): number | undefined =>
    maxLength ?? anyOf.map(longest).find((each) => each !== undefined);
  const faults: { readonly what: string; readonly hurt: (deed: Deed) => Deed }[] = [];
  for (const [name, property] of Object.entries(fields ?? {})) {
    const typedName = typedAs[name] ?? name;
    const most = longest(property);
    if (most !== undefined) {
      const text = 'x'.repeat(most + 1);
      faults.push({
        what: `${name} is too long`,
        hurt: ({ params: of = {}, typed, body: sent }) => ({
          params: of,
          typed: { ...(isPatch ? {} : typed), [typedName]: text },
          body: { ...(isPatch ? {} : sent), [name]: text },
        }),
      });
    }
    if (required.includes(name) && !isPatch) {
      faults.push({
        what: `${name} is missing`,
        hurt: ({ params: of = {}, typed, body: sent }) => {
          const { [name]: _, ...rest } = { ...sent } as { [field: string]: unknown };
          return { params: of, typed: { ...typed, [typedName]: '' }, body: rest };
        },
      });
    }
  }
  for (const name of Object.keys(params?.properties ?? {})) {
    faults.push({
      what: `${name} is nobody's`,
      hurt: (deed) => ({ ...deed, params: { [name]: 'nobody' } }),
    });
  }
  return faults;
}

/** Somebody with a browser at the pages, and the token that it holds. */
async function somebody({ isUnverified }: Row) {
  const account = isUnverified
    ? await fixture.register(admin.tenantId)
    : await fixture.registerVerified(admin.tenantId);
  const browser = await signedIn(fixture, account);
  const cookies = pageCookies(fixture.host.needsOf('identity').pageKeys, fixture.settings);
  const found = [...browser.page.jar.values()].find(({ name }) => name === 'cardea');
  const cookie = cookies.read({ cookie: `cardea=${found?.value}` });
  const bearer = cookie?.token ?? '';
  return { account, browser, rest: fixture.rest.as({ tenant: admin.tenantId, bearer }) };
}

/** The events that the person caused: their types and, for refusals, what was refused and why. */
async function eventsOf(userId: string, position: bigint): Promise<readonly string[]> {
  const events = await fixture.eventsSince(position);
  const own = events.filter(
    ({ metadata: { actor } }) => actor.id === userId && actor.type !== 'system',
  );
  return own.map(({ type, data }) => {
    const { operation = '', reason = '', status = '' } = data as { [field: string]: unknown };
    return type === 'ActionDenied' ? `${type} ${operation} ${reason} ${status}` : type;
  });
}

type Trial = { readonly row: Row; readonly hurt?: (deed: Deed) => Deed; readonly isOld?: boolean };

async function byRest({ row, hurt = same, isOld }: Trial) {
  const { account, rest } = await somebody(row);
  const deed = hurt(await row.prepare(account, rest));
  const { method, path } = contractOf(row.operation);
  if (isOld === true) fixture.clock.move(STEP_UP_MS);
  const position = await fixture.head();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name) => deed.params?.[name] ?? '');
  const answer = await call(rest, method, filled, deed.body);
  return { status: answer.status, ...(await leftBy(account, position)) };
}

const call = (
  rest: RestDriver,
  method: Contract['method'],
  path: string,
  body: object | undefined,
): Promise<RestAnswer> => rest.call(method.toUpperCase(), path, body === undefined ? {} : { body });

const same = (deed: Deed): Deed => deed;

async function byPage({ row, hurt = same, isOld }: Trial) {
  const { account, browser, rest } = await somebody(row);
  const deed = hurt(await row.prepare(account, rest));
  const search = new URLSearchParams({ form: row.form });
  for (const [name, value] of Object.entries(deed.params ?? {})) {
    search.set(`param.${name}`, value);
  }
  const shown = await browser.get(`${row.page}?${search}`);
  if (isOld === true) fixture.clock.move(STEP_UP_MS);
  const position = await fixture.head();
  const answer = await browser.send(shown, { form: row.form, typed: deed.typed ?? {} });
  return { status: answer.status, ...(await leftBy(account, position)) };
}

/** Returns the published events, from which audit rows are derived. */
async function leftBy({ userId }: Account, after: bigint) {
  const by = { service: 'identity', tenantId: admin.tenantId, actorId: userId, after } as const;
  return { events: await eventsOf(userId, after), published: await publishedBy(fixture, by) };
}

async function compare(trial: Trial): Promise<number> {
  const rest = await byRest(trial);
  const page = await byPage(trial);
  expect(page.events).toEqual(rest.events);
  expect(page.published).toEqual(rest.published);
  if (rest.status < 300) expect(rest.events.length).toBeGreaterThan(0);
  if (rest.status < 300) expect([200, 303]).toContain(page.status);
  else expect(page.status).toBe(rest.status);
  return rest.status;
}

describe('people 1 each form of an account page', () => {
  it('stands in the table', () => {
    const forms = fixture.host.endpoints.flatMap(({ contract }) => {
      const { form } = (contract.body ?? {}) as { form?: never };
      const isPage = contract.audience === 'page' && contract.method === 'post';
      const names = (contract.body as { properties?: { form?: { enum?: string[] } } } | undefined)
        ?.properties?.form?.enum;
      return isPage && form === undefined
        ? (names ?? []).map((of) => `${contract.path} ${of}`)
        : [];
    });
    const rows = ROWS.map(({ page, form }) => `${page} ${form}`);
    expect(forms.toSorted()).toEqual(rows.toSorted());
  });

  it.each(ROWS)('does what $operation does', async (row) => {
    const status = await compare({ row });
    expect(status < 300).toBe(row.isFault !== true);
  });

  it.each(ROWS)('is refused as $operation is, by each fault', async (row) => {
    for (const { what, hurt } of faultsOf(row)) {
      expect(await compare({ row, hurt }), what).toBeGreaterThanOrEqual(400);
    }
  });

  it.each(ROWS)('is refused as $operation is where the sign-in is too old', async (row) => {
    if (contractOf(row.operation).access?.stepUp !== 'users') return;
    expect(await compare({ row, isOld: true })).toBe(401);
  });
});
