/**
 * A tenant that misuses one shared resource to its limit, and a victim that uses the same resource. There is one pair
 * for each resource of rule C1 that can be misused over HTTP.
 */
import {
  type RestAnswer,
  type RestDriver,
  testForm,
  untilTrue,
  type WebhookSink,
} from '@cardea/testing';
import { type Flood, NUMBER } from './flood.ts';
import type { MailServer } from './mail-server.ts';

export type Neighbour = {
  readonly id: string;
  readonly userId: string;
  readonly admin: RestDriver;
  readonly email: string;
  readonly base: string;
  readonly bearer: string;
};

export type Misuse = {
  readonly resource: string;
  /** Clients of the noisy tenant that send concurrently, without a pause. */
  readonly clients: number;
  /** Called once, before anything is measured. */
  readonly prepare?: (noisy: Neighbour, victim: Neighbour) => Promise<void>;
  /** Called before the first noisy period. */
  readonly begin?: (noisy: Neighbour) => Promise<void>;
  /** The request that each noisy client sends. If one request cannot express the misuse, `misuse` sends it instead. */
  readonly flood?: (noisy: Neighbour) => Flood | Promise<Flood>;
  readonly misuse?: (noisy: Neighbour, number: number) => Promise<RestAnswer>;
  /** The status of a refusal in the form of the misuse itself, in addition to 429 and 503. */
  readonly refused?: number;
  /**
   * Asserted after each noisy period. False if the misuse has not reached a limit. `answers` is the number of all
   * responses so far.
   */
  readonly isAtLimit?: (answers: number) => boolean;
  /** True if the effect continues after the misuse. The calm periods then come before all noisy ones. */
  readonly lingers?: true;
  /** Ends requests of noisy clients that wait for something. */
  readonly letEnd?: (noisy: Neighbour) => Promise<unknown>;
  /** The victim's pause between two requests, if its own limits require more than the usual one. */
  readonly pauseMs?: number;
  /** One request of the victim. */
  readonly calm: (victim: Neighbour) => Promise<RestAnswer>;
};

export const PASSWORD = 'a password that nobody guesses';
const WEBHOOKS = 24;
/** Concurrent attempts of the process. The noisy tenant has many times as many deliveries due. */
export const WEBHOOK_CONCURRENCY = 16;
const BACKLOG_USERS = 40;
const MAILS_DUE_MIN = 8;
const SLOW_MS_MAX = 4_000;
const ARRIVES_MS_MAX = 120_000;
const SCHEDULING_PAUSE_MS = 200;
const LARGE_BYTES = 4 * 1024 * 1024;
const TUPLES = 100;
/** An administrator makes at most 300 requests for approval a minute. */
export const ASKING_PAUSE_MS = 60_000 / 300;
/** So several of them ask in turn, or there would be too few times for a p99. */
const ASKERS = 8;
const SERVICE = 'warehouse';
const SECRETS = `/api/v1/vault/services/${SERVICE}/secrets`;
const INVITATIONS = '/api/v1/admin/invitations';
const REQUESTS = '/api/v1/ciba/requests';

export async function neighbour(
  { rest, base }: { readonly rest: RestDriver; readonly base: string },
  name: string,
): Promise<Neighbour> {
  const email = `owner@${name}.example.com`;
  const signUp = { email, password: PASSWORD, company_name: name };
  const { body } = await must(rest.post('/api/v1/auth/signup', signUp));
  const caller = { bearer: body.access_token, tenant: body.tenant_id };
  const { tenant_id: id, user_id: userId, access_token: bearer } = body;
  return { id, userId, admin: rest.as(caller), email, base, bearer };
}

/** Signs in again, because some changes require a recent sign-in. */
export async function signedIn(neighbour: Neighbour): Promise<Neighbour> {
  const { id: tenant, admin } = neighbour;
  const { body } = await must(loginOf(neighbour));
  const bearer: string = body.access_token;
  return { ...neighbour, bearer, admin: admin.as({ bearer, tenant }) };
}

/** Further administrators, for callers that have limits of their own. */
export async function administrators(
  neighbour: Neighbour,
  count: number,
): Promise<readonly RestDriver[]> {
  const { admin, email: owner } = neighbour;
  const made: RestDriver[] = [];
  for (let at = 0; at < count; at++) {
    const email = `admin${at}.${owner}`;
    const user = { email, password: PASSWORD, email_verified: true, roles: ['admin'] };
    await must(admin.post('/api/v1/admin/users', user));
    made.push((await signedIn({ ...neighbour, email })).admin);
  }
  return made;
}

/** Throws if the response is not a success. */
export async function must(answering: Promise<RestAnswer>): Promise<RestAnswer> {
  const answer = await answering;
  if (answer.status < 300) return answer;
  throw new Error(`answered ${answer.status}: ${answer.text.slice(0, 300)}`);
}

/** The noisy tenant's receivers answer after 0 to 4 s or never, the victim's at once. */
export function receiver(sink: WebhookSink): void {
  sink.answerWith(async ({ path }) => {
    if (path.startsWith('/dead')) return new Promise(() => {});
    const slow = /^\/slow\/(\d+)/.exec(path);
    if (slow !== null) await pause((Number(slow[1]) * SLOW_MS_MAX) / WEBHOOKS);
    return { status: 200 };
  });
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const tupleOf = (number: number) => ({
  user_type: 'user',
  user_id: 'ann',
  relation: 'viewer',
  object_type: 'document',
  object_id: `d${number}`,
});

const withService = async ({ admin }: Neighbour): Promise<void> => {
  const fields = [{ name: 'value' }];
  const service = { name: SERVICE, credential_type: 'static', fields };
  await must(admin.post('/api/v1/vault/services', service));
};
const secretOf = ({ admin }: Neighbour, value: unknown): Promise<RestAnswer> =>
  admin.put(SECRETS, { fields: { value } });

const loginOf = ({ admin, id, email }: Neighbour): Promise<RestAnswer> =>
  admin
    .as({ bearer: undefined, tenant: id })
    .post('/api/v1/auth/login', { email, password: PASSWORD });

/** `mails` takes the mail of all tenants. */
export function misuses(sink: WebhookSink, mails: MailServer): readonly Misuse[] {
  let users = 0;
  let invited = 0;
  const newGuest = () => {
    invited += 1;
    return `guest${invited}@example.com`;
  };
  const agents = new Map<string, string>();
  let waitedFor = '';
  let askers: readonly RestDriver[] = [];
  let asked = 0;
  const openRequest = async ({ id, userId }: Neighbour, asker: RestDriver): Promise<string> => {
    const request = { agent_id: agents.get(id), user_id: userId, action: 'write_data' };
    return (await must(asker.post(REQUESTS, request))).body.id;
  };
  const newUser = ({ admin }: Neighbour) => {
    users += 1;
    const email = `user${users}@example.com`;
    return admin.post('/api/v1/admin/users', { email, password: PASSWORD, email_verified: true });
  };
  let tested = '';
  const arrivals = () => sink.received.filter(({ path }) => path === '/fast').length;
  const slowArrivals = () => sink.received.filter(({ path }) => path.startsWith('/slow')).length;
  return [
    {
      resource: 'database requests',
      clients: 48,
      flood: () => ({ method: 'GET', path: '/api/v1/admin/users?limit=1000' }),
      calm: ({ admin }) => admin.get('/api/v1/agents'),
    },
    {
      resource: 'exports',
      clients: 8,
      flood: () => ({ method: 'GET', path: '/api/v1/audit/events.csv' }),
      calm: ({ admin }) => admin.get('/api/v1/audit/events.csv', { query: { limit: 1 } }),
    },
    {
      resource: 'mail sending',
      clients: 8,
      lingers: true,
      flood: () => ({
        method: 'POST',
        path: INVITATIONS,
        body: JSON.stringify({ email: `crowd${NUMBER}@example.com` }),
      }),
      // In short noisy periods mails may leave as fast as they are requested, so only the long form asserts this.
      isAtLimit: (answers) =>
        !testForm.long || answers > mails.arrivalsOf(/^crowd/) + MAILS_DUE_MIN,
      // The request ends when the mail has arrived. An address gets three mails a minute, so each request has a new
      // one.
      calm: async (victim) => {
        const email = newGuest();
        const answer = await victim.admin.post(INVITATIONS, { email });
        await untilTrue(() => mails.arrivals(email) > 0, { deadlineMs: ARRIVES_MS_MAX });
        return answer;
      },
    },
    {
      resource: 'long polls',
      clients: 24,
      prepare: async (noisy, victim) => {
        askers = await administrators(victim, ASKERS);
        for (const each of [noisy, victim]) {
          const { body } = await must(each.admin.post('/api/v1/agents', { name: 'bot' }));
          agents.set(each.id, body.id);
        }
      },
      flood: async (noisy) => {
        waitedFor = await openRequest(noisy, noisy.admin);
        return { method: 'GET', path: `${REQUESTS}/${waitedFor}/poll` };
      },
      letEnd: ({ admin }) => must(admin.post(`${REQUESTS}/${waitedFor}/deny`)),
      pauseMs: ASKING_PAUSE_MS / ASKERS,
      // Lasts from the request to its decision, which ends the poll.
      calm: async (victim) => {
        const asker = askers[asked % ASKERS] as RestDriver;
        asked += 1;
        const path = `${REQUESTS}/${await openRequest(victim, asker)}`;
        const polled = asker.get(`${path}/poll`);
        await must(victim.admin.post(`${path}/deny`));
        return polled;
      },
    },
    {
      resource: 'hash permits',
      clients: 16,
      flood: ({ email }) => ({
        method: 'POST',
        path: '/api/v1/auth/login',
        body: JSON.stringify({ email, password: PASSWORD }),
        isAnonymous: true,
      }),
      calm: loginOf,
    },
    {
      resource: 'evaluations',
      clients: 24,
      prepare: async (noisy, victim) => {
        for (let at = 0; at < TUPLES; at++) {
          await must(noisy.admin.post('/api/v1/fga/tuples', tupleOf(at)));
        }
        await must(victim.admin.post('/api/v1/fga/tuples', tupleOf(0)));
      },
      flood: () => {
        const { object_id: _each, ...asked } = tupleOf(0);
        return { method: 'POST', path: '/api/v1/fga/list-objects', body: JSON.stringify(asked) };
      },
      calm: ({ admin }) => admin.post('/api/v1/fga/check', tupleOf(0)),
    },
    {
      resource: 'large bodies',
      clients: 3,
      prepare: async (noisy, victim) => {
        await withService(noisy);
        await withService(victim);
      },
      flood: () => ({
        method: 'PUT',
        path: SECRETS,
        body: JSON.stringify({ fields: { value: Array(LARGE_BYTES / 2).fill(1) } }),
      }),
      refused: 400,
      calm: (victim) => secretOf(victim, 'x'),
    },
    // This misuse is last, because the deliveries that it leaves due are sent for minutes.
    {
      resource: 'webhook claims and slots',
      clients: 2,
      prepare: async (noisy, victim) => {
        const webhook = { url: `${sink.url}/fast`, events: ['user.created'] };
        tested = (await must(victim.admin.post('/api/v1/webhooks', webhook))).body.id;
        for (let at = 0; at < WEBHOOKS; at++) {
          const url = `${sink.url}/slow/${at}`;
          await must(noisy.admin.post('/api/v1/webhooks', { url, events: ['user.created'] }));
        }
      },
      lingers: true,
      // If deliveries were sent oldest first, the victim would wait for all of them.
      begin: async (noisy) => {
        for (let at = 0; at < BACKLOG_USERS; at++) await must(newUser(noisy));
        await untilTrue(() => slowArrivals() > 0, { deadlineMs: ARRIVES_MS_MAX });
      },
      misuse: async (noisy) => {
        // Schedules more than the receivers accept, and less than the service can schedule.
        await pause(SCHEDULING_PAUSE_MS);
        return newUser(noisy);
      },
      isAtLimit: () =>
        users * WEBHOOKS - slowArrivals() > (BACKLOG_USERS * WEBHOOK_CONCURRENCY) / 2,
      // The request ends when the delivery has arrived. The response itself waits for at most 5 s.
      calm: async ({ admin }) => {
        const came = arrivals();
        const answer = await admin.post(`/api/v1/webhooks/${tested}/test`);
        await untilTrue(() => arrivals() > came, { deadlineMs: ARRIVES_MS_MAX });
        return answer;
      },
    },
  ];
}
