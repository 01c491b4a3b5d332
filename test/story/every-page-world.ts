/**
 * Two people whose pages a browser visits: Ann, for whom each page has something to show, and Bob, for whom none has.
 * It also has the requests about which Ann decides, and the links of mails.
 */
import { type RestDriver, untilTrue } from '@cardea/testing';
import { type AskingAgent, askingAgent, bodyOf } from '../../scripts/pictures/asking-agent.ts';
import { codeOf } from '../../services/identity/test/mfa-fixture.ts';
import type { Instance } from '../faults/instance.ts';

const DAY_MS = 86_400_000;
/** The requests wait until every window size was tested. */
const WAIT_S = 3_600;
const LINKS = {
  change: 'email-change/verify',
  invitation: 'invitations/accept',
  magic: 'magic-link/verify',
  reset: 'reset-password',
} as const;

export const ANN = {
  email: 'ann@example.com',
  password: 'a long password of Ann',
  display_name: 'Ann Example',
  roles: ['admin'],
};
export const BOB = { email: 'bob@example.com', password: 'a long password of Bob' };
const NEW_ADDRESS = 'ann.with.a.new.address@example.com';
const INVITED = 'carla@example.com';

export type World = {
  readonly tenant: string;
  /** The ids of requests, by their state and kind. */
  readonly requests: {
    readonly [kind in
      | 'secret'
      | 'action'
      | 'access'
      | 'set'
      | 'given'
      | 'approved'
      | 'used'
      | 'denied']: string;
  };
  readonly links: { readonly [link in keyof typeof LINKS]: string };
  readonly client: { readonly id: string; readonly client_id: string };
  readonly delegation: string;
  readonly channel: string;
  readonly bob: string;
  /** Ann's token of the API, for what follows her sign-in at the pages. */
  readonly ann: RestDriver;
};

export async function everyPageWorld(cardea: Instance, redirectUri: string): Promise<World> {
  const credentials = await cardea.admin();
  const { tenant } = credentials;
  const admin = cardea.rest.as(credentials);
  const deployer = await askingAgent(admin, {
    service: 'warehouse',
    values: { username: 'reader', password: 'correct horse' },
    agent: 'Deploy Bot',
    person: ANN,
    policy: {
      severity: 'high',
      ttl_seconds: WAIT_S,
      escalate: { after_seconds: 120, approver: { role: 'admin' } },
    },
  });
  const ann = admin.as({ bearer: deployer.person.token });
  const { id: bob } = await bodyOf(admin.post('/api/v1/admin/users', BOB));
  const requests = await requestsOf(admin, ann, deployer);
  const client = await bodyOf(
    admin.post('/api/v1/admin/applications', {
      name: 'Bookshop',
      type: 'spa',
      redirect_uris: [redirectUri],
    }),
  );
  const services = [{ service_name: 'warehouse', fields: ['username', 'password'] }];
  const delegation = await bodyOf(
    ann.post('/api/v1/me/delegations', { agent_id: deployer.agentId, services }),
  );
  const channel = await channelsOf(ann, deployer.person.id);
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
  // The deputyship begins later, so requests go to Ann until then.
  const deputy = { user_id: bob, from: inDays(7), until: inDays(21) };
  await bodyOf(ann.put('/api/v1/ciba/deputy', deputy));
  const links = await mailedLinks(cardea, admin, ann);
  return { tenant, requests, links, client, delegation: delegation.id, channel, bob, ann };
}

async function requestsOf(
  admin: RestDriver,
  ann: RestDriver,
  { asks, agent, agentId, person }: AskingAgent,
): Promise<World['requests']> {
  const decide = (id: string, verb: 'approve' | 'deny', body: object = {}) =>
    bodyOf(ann.post(`/api/v1/ciba/requests/${id}/${verb}`, body));
  const secret = await asks(`Report of the week <b>not bold</b> ${'W'.repeat(60)}`);
  const approved = await asks('Back up the tables');
  await decide(approved.id, 'approve', { binding_code: approved.code, comment: 'Go on' });
  const used = await asks('Renew the index');
  await decide(used.id, 'approve', { binding_code: used.code });
  await bodyOf(used.vend());
  const denied = await asks('Delete the tables');
  await decide(denied.id, 'deny', { reason: 'Not on a Friday' });
  const wanted = { agent_id: agentId, ttl_seconds: WAIT_S };
  const inName = (more: object) =>
    bodyOf(admin.post('/api/v1/ciba/requests', { ...wanted, ...more }));
  const action = await inName({
    user_id: person.id,
    action: 'refund',
    reason: 'The parcel never came',
    details: {
      order: '2026-117',
      cents: 12_500,
      to: { name: 'Grace <Hopper>', iban: 'DE89370400440532013000', note: 'n'.repeat(120) },
      items: ['a lamp', 'two bulbs'],
    },
  });
  const toSet = (what: string) =>
    inName({ user_id: 'role:admin', approvals_needed: 2, action: what });
  const set = await toSet('pay');
  const given = await toSet('order');
  await decide(given.id, 'approve');
  const service = { name: 'payroll', credential_type: 'static', fields: [{ name: 'token' }] };
  await bodyOf(admin.post('/api/v1/vault/services', service));
  const access = await bodyOf(
    agent.post('/api/v1/ciba/access-requests', {
      services: [{ service_name: 'payroll', fields: ['token'] }],
      duration_seconds: 5_400,
      reason: 'The monthly run',
      ttl_seconds: WAIT_S,
    }),
  );
  return {
    secret: secret.id,
    action: action.id,
    access: access.id,
    set: set.id,
    given: given.id,
    approved: approved.id,
    used: used.id,
    denied: denied.id,
  };
}

/** Two channels that get no message here, since all requests were made before. */
async function channelsOf(ann: RestDriver, userId: string): Promise<string> {
  const add = (more: object) =>
    bodyOf(ann.post('/api/v1/ciba/channels', { recipient: { user_id: userId }, ...more }));
  const slack = { format: 'slack', url: 'https://hooks.slack.com/services/T0/B0/x' };
  const { id } = await add({ name: 'Team of payments', min_severity: 'medium', ...slack });
  const ntfy = { format: 'ntfy', url: 'https://ntfy.example/topic-1' };
  const phone = await add({ name: 'Phone', min_severity: 'high', ...ntfy });
  await bodyOf(ann.patch(`/api/v1/ciba/channels/${phone.id}`, { enabled: false }));
  return id;
}

async function mailedLinks(
  { base, rest }: Instance,
  admin: RestDriver,
  ann: RestDriver,
): Promise<World['links']> {
  const anyone = admin.as({ bearer: undefined });
  await bodyOf(ann.post('/api/v1/user/email', { email: NEW_ADDRESS }));
  await bodyOf(anyone.post('/api/v1/auth/forgot-password', { email: ANN.email }));
  await bodyOf(anyone.post('/api/v1/auth/magic-link', { email: ANN.email }));
  await bodyOf(admin.post('/api/v1/admin/invitations', { email: INVITED }));
  const mailed = (to: string, path: string): Promise<string> =>
    untilTrue(
      async () => {
        const { body } = await rest.get('/dev/mailbox', { query: { to } });
        const links: readonly (string | null)[] = body.messages.map(
          ({ link }: { readonly link: string | null }) => link,
        );
        return links.find((link) => link?.includes(path)) ?? undefined;
      },
      { what: `the mail to ${to} with a link to ${path} at ${base}` },
    );
  return {
    change: await mailed(NEW_ADDRESS, LINKS.change),
    invitation: await mailed(INVITED, LINKS.invitation),
    magic: await mailed(ANN.email, LINKS.magic),
    reset: await mailed(ANN.email, LINKS.reset),
  };
}

/** The world after Ann has signed in at the pages and given an application access. */
export type LaterWorld = World & {
  readonly consent: string;
  readonly recoveryCodes: readonly string[];
};

/** From here on, Ann's sign-ins need a second factor. */
export async function withSecondFactor(world: World): Promise<LaterWorld> {
  const { ann } = world;
  const { consents } = await bodyOf(ann.get('/api/v1/auth/consents'));
  const { factor_id, secret } = await bodyOf(ann.post('/api/v1/me/mfa/totp', { name: 'My phone' }));
  const code = codeOf(secret, new Date());
  const confirmed = ann.post(`/api/v1/me/mfa/totp/${factor_id}/confirm`, { code });
  const { recovery_codes: recoveryCodes } = await bodyOf(confirmed);
  return { ...world, consent: consents[0].id, recoveryCodes };
}
