/**
 * A tenant sends a set of fifty people a thousand requests a minute, and each is also sent to a chat server that never
 * answers. A victim's approval mails and vends must not be affected (C1).
 */
import { type RestDriver, untilTrue, type WebhookSink } from '@cardea/testing';
import type { MailServer } from './mail-server.ts';
import {
  ASKING_PAUSE_MS,
  administrators,
  type Misuse,
  must,
  type Neighbour,
  PASSWORD,
  pause,
} from './neighbours.ts';

const REQUESTS = '/api/v1/ciba/requests';
/** The maximum number of channels of a tenant. */
const CHANNELS = 20;
/** The maximum number of members of a set who receive a mail about a request. */
const HOLDERS = 50;
const SET = { relation: 'member', object_type: 'group', object_id: 'flooded' };
/** A caller may make at most 300 requests a minute, so a thousand requests need four callers. */
const ADMINS = 4;
const PAUSE_MS = (ADMINS * 60_000) / 1_000;
/** A user gets five mails a minute of their own; later ones are combined. */
const MAILS_PER_USER = 4;
const ARRIVES_MS_MAX = 60_000;
const SERVICE = 'printer';
/** A session vends at most 100 times a second (VAULT_SESSION_RATE). */
const VEND_PAUSE_MS = 1_000 / 100;

/** `sink` never answers below `/dead`. */
export function channelMisuses(sink: WebhookSink, mails: MailServer): readonly Misuse[] {
  const agents = new Map<string, string>();
  let admins: readonly RestDriver[] = [];
  let asked = 0;
  let vend: (() => ReturnType<RestDriver['post']>) | undefined;

  const prepareNoise = async (noisy: Neighbour): Promise<void> => {
    if (admins.length > 0) return;
    agents.set(
      noisy.id,
      (await must(noisy.admin.post('/api/v1/agents', { name: 'flood' }))).body.id,
    );
    for (let at = 0; at < CHANNELS; at++) {
      const channel = { name: `Dead ${at}`, format: 'slack', url: `${sink.url}/dead/${at}` };
      await must(noisy.admin.post('/api/v1/ciba/channels', channel));
    }
    for (let at = 0; at < HOLDERS; at++) {
      const user = { email: `holder${at}@noisy.example.com`, email_verified: true };
      const { id } = (await must(noisy.admin.post('/api/v1/admin/users', user))).body;
      const tuple = { user_type: 'user', user_id: id, ...SET };
      await must(noisy.admin.post('/api/v1/fga/tuples', tuple));
    }
    admins = await administrators(noisy, ADMINS);
  };
  const noise = {
    clients: ADMINS,
    lingers: true,
    misuse: async ({ id }: Neighbour, number: number) => {
      await pause(PAUSE_MS);
      const user_id = `${SET.object_type}:${SET.object_id}#${SET.relation}`;
      const request = { agent_id: agents.get(id), user_id, action: 'flood' };
      return (admins[number] as RestDriver).post(REQUESTS, request);
    },
    isAtLimit: () => sink.received.some(({ path }) => path.startsWith('/dead')),
  } as const;

  const addressOf = (number: number) =>
    `asked${Math.floor(number / MAILS_PER_USER)}@victim.example.com`;
  const users = new Map<string, string>();
  const userAt = async ({ admin }: Neighbour, email: string): Promise<string> => {
    const known = users.get(email);
    if (known !== undefined) return known;
    const user = { email, password: PASSWORD, email_verified: true };
    const { id } = (await must(admin.post('/api/v1/admin/users', user))).body;
    users.set(email, id);
    return id;
  };
  return [
    {
      ...noise,
      resource: 'a dead chat server: approval mails',
      prepare: async (noisy, victim) => {
        await prepareNoise(noisy);
        const { body } = await must(victim.admin.post('/api/v1/agents', { name: 'asker' }));
        agents.set(victim.id, body.id);
        for (let at = 0; at < USERS; at++) await userAt(victim, addressOf(at * MAILS_PER_USER));
      },
      pauseMs: ASKING_PAUSE_MS,
      // The request ends when the mail has arrived.
      calm: async (victim) => {
        const email = addressOf(asked);
        asked += 1;
        const request = {
          agent_id: agents.get(victim.id),
          user_id: await userAt(victim, email),
          action: 'write_data',
        };
        const before = mails.arrivals(email);
        const answer = await must(victim.admin.post(REQUESTS, request));
        await untilTrue(() => mails.arrivals(email) > before, { deadlineMs: ARRIVES_MS_MAX });
        return answer;
      },
    },
    {
      ...noise,
      resource: 'a dead chat server: vends',
      prepare: async (noisy, victim) => {
        await prepareNoise(noisy);
        vend = await vendOf(victim);
      },
      pauseMs: VEND_PAUSE_MS,
      calm: () => (vend as NonNullable<typeof vend>)(),
    },
  ];
}

/** Users that are created before anything is measured. A long run creates more. */
const USERS = 40;

/** Hands out a secret that no policy guards. */
async function vendOf({ admin, id, bearer }: Neighbour) {
  const fields = [{ name: 'value' }];
  const service = { name: SERVICE, credential_type: 'static', fields };
  await must(admin.post('/api/v1/vault/services', service));
  const values = { fields: { value: 'x' } };
  await must(admin.put(`/api/v1/vault/services/${SERVICE}/secrets`, values));
  const services = [{ service_name: SERVICE, fields: ['value'] }];
  const { body: agent } = await must(admin.post('/api/v1/agents', { name: 'vendor', services }));
  const key = (await must(admin.post(`/api/v1/agents/${agent.id}/keys`, { name: 'ci' }))).body.key;
  const asAgent = admin.as({ bearer: key, tenant: id });
  const begin = { services, subject_token: bearer, purpose: 'vends beside a flood' };
  const { data } = (await must(asAgent.post('/api/v1/agent/sessions', begin))).body;
  const wanted = { service_name: SERVICE, fields: ['value'] };
  return () =>
    asAgent.post(`/api/v1/agent/sessions/${data.id}/credentials`, wanted, {
      headers: { 'x-service-token': data.capability_token },
    });
}
