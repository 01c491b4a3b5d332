/**
 * A form of a page has the effect of its endpoint: the same events, refusals and status, and the same published events.
 */
import { formToken, pageCookies } from '@cardea/pages';
import { publishedBy } from '@cardea/testing';
import { describe, expect, it } from 'vitest';
import { approvalOfFile, type Tenant, wanted } from './approval-fixture.ts';

const fixture = approvalOfFile({ withoutSweeper: true });

const REQUESTS = '/api/v1/ciba/requests';
const AN_HOUR_MS = 3_600_000;

type Person = 'ann' | 'bob';
type Case = {
  readonly what: string;
  readonly form: 'approve' | 'deny';
  /** The input as a form field, and as a JSON body. */
  readonly typed?: { readonly [field: string]: string };
  readonly body?: (typed: { readonly [field: string]: string }) => object;
  readonly by?: Person;
  readonly claims?: object;
  readonly vend?: object;
  /** Runs between the request and the decision. */
  readonly before?: (tenant: Tenant, id: string) => Promise<unknown>;
  readonly status: number;
};

const same = (typed: { readonly [field: string]: string }): object => typed;
const minutes = ({ mute_agent_minutes, ...rest }: { readonly [field: string]: string }) => ({
  ...rest,
  mute_agent_minutes: Number(mute_agent_minutes),
});

const CASES: readonly Case[] = [
  { what: 'approved', form: 'approve', status: 200 },
  { what: 'approved with a comment', form: 'approve', typed: { comment: 'go' }, status: 200 },
  { what: 'denied', form: 'deny', status: 200 },
  { what: 'denied with a reason', form: 'deny', typed: { reason: 'no' }, status: 200 },
  {
    what: 'denied and muted',
    form: 'deny',
    typed: { mute_agent_minutes: '15' },
    body: minutes,
    status: 200,
  },
  {
    what: 'denied with too long a reason',
    form: 'deny',
    typed: { reason: 'x'.repeat(281) },
    status: 400,
  },
  {
    what: 'muted for too long',
    form: 'deny',
    typed: { mute_agent_minutes: '1441' },
    body: minutes,
    status: 400,
  },
  {
    what: 'approved after a denial',
    form: 'approve',
    before: ({ ann }, id) => ann.post(`${REQUESTS}/${id}/deny`),
    status: 409,
  },
  {
    what: 'denied after its time',
    form: 'deny',
    before: async () => fixture.clock.move(AN_HOUR_MS),
    status: 410,
  },
  { what: 'approved by somebody else', form: 'approve', by: 'bob', status: 404 },
  {
    what: 'approved without the number',
    form: 'approve',
    vend: { number_match: true },
    status: 422,
  },
  {
    what: 'approved after an old sign-in',
    form: 'approve',
    vend: { max_auth_age_seconds: 60 },
    claims: { auth_time: 1 },
    status: 401,
  },
  {
    what: 'approved without a vouch',
    form: 'approve',
    vend: {},
    before: ({ id }) => fixture.vouch(id, 'ann', false),
    status: 403,
  },
];

async function asked(name: string, { vend }: Case): Promise<{ tenant: Tenant; id: string }> {
  const tenant = await fixture.people(name);
  if (vend !== undefined) {
    const opened = await fixture.open(tenant.id, { digest: name, ...vend });
    return { tenant, id: String(opened['id']) };
  }
  const { body } = await tenant.bot.post(REQUESTS, wanted());
  return { tenant, id: String(body.id) };
}

const bearerOf = (tenant: Tenant, { by = 'ann', claims = {} }: Case): string =>
  fixture.tokens.user({ tenantId: tenant.id, id: by, claims });

/**
 * Types of the events and their data about the decision. Notices and policies are left out, since they follow later. So
 * is the expiry, because the first process that meets an overdue request expires it, and that may be the notifier.
 */
async function eventsOf(tenant: Tenant): Promise<readonly string[]> {
  const events = await fixture.eventsOf(tenant.id);
  const own = events.filter(
    ({ type, metadata }) => metadata.actor.type !== 'system' && type !== 'ApprovalExpired',
  );
  return own.map(({ type, data }) => {
    const { cause = '', responded_by = '' } = data as { [field: string]: string };
    return `${type} ${cause} ${responded_by}`;
  });
}

/** What was published for the person, without the expiry, for the same reason. */
async function published({ id }: Tenant, { by = 'ann' }: Case): Promise<readonly string[]> {
  const of = { service: 'approval', tenantId: id, actorId: by, after: 0n } as const;
  const all = await publishedBy(fixture, of);
  return all.filter((event) => JSON.parse(event).type !== 'approval.expired');
}

/** On a busy machine others may have been quicker five times: nothing was decided, and it is sent once more. */
async function unlessBusy<Sent extends { readonly status: number }>(
  send: () => Promise<Sent>,
): Promise<Sent> {
  const answer = await send();
  return answer.status === 503 ? send() : answer;
}

async function byRest(of: Case) {
  const { tenant, id } = await asked(`rest-${CASES.indexOf(of)}`, of);
  await of.before?.(tenant, id);
  const { typed = {}, body = same } = of;
  const as = fixture.rest.as({ tenant: tenant.id, bearer: bearerOf(tenant, of) });
  const { status } = await unlessBusy(() => as.post(`${REQUESTS}/${id}/${of.form}`, body(typed)));
  return { status, events: await eventsOf(tenant), published: await published(tenant, of) };
}

async function byPage(of: Case) {
  const { tenant, id } = await asked(`page-${CASES.indexOf(of)}`, of);
  await of.before?.(tenant, id);
  const cookies = pageCookies(fixture.host.needsOf('approval').pageKeys, fixture.settings);
  const cookie = cookies.begun(bearerOf(tenant, of));
  const path = `/approve/${id}`;
  const answer = await unlessBusy(() =>
    fetch(fixture.baseUrl + path, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie: cookies.written(cookie).split(';')[0] ?? '',
        origin: new URL(fixture.settings.PUBLIC_URL).origin,
      },
      body: new URLSearchParams({
        ...of.typed,
        form: of.form,
        form_token: formToken(cookie, path),
      }),
    }),
  );
  const { status } = answer;
  return { status, events: await eventsOf(tenant), published: await published(tenant, of) };
}

describe('people 1 a form of a page', () => {
  it.each(CASES)('does what its endpoint does: $what', async (of) => {
    const rest = await byRest(of);
    const page = await byPage(of);
    expect(rest.status).toBe(of.status);
    expect(page.status).toBe(of.status === 200 ? 303 : of.status);
    expect(page.events).toEqual(rest.events);
    expect(page.published).toEqual(rest.published);
    // Audit rows are derived from the published events.
    if (of.status === 200) expect(rest.published.length).toBeGreaterThan(0);
  });
});
