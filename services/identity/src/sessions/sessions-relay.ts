/**
 * Publishes the facts about login sessions that other services receive (`docs/design/identity.md`, What it tells other
 * services).
 */
import type { identityEvents } from '@cardea/contracts';
import { type RelayTools, relay } from '@cardea/event-bus';
import { readSnapshot } from '../accounts/accounts.module.ts';
import { deviceOf } from '../adapters/device.ts';
import type { SessionEvent, SessionFacts } from './session.ts';

export const sessionsRelay = relay<SessionEvent, typeof identityEvents>({
  SessionStarted: async (event, tools) => {
    const { data } = event;
    if (data.via === 'oauth') {
      const { user_id, client_id, id: session_id, scope, resource } = data;
      const scopes = scope === null ? [] : scope.split(' ');
      const of = { user_id, client_id: client_id ?? '', session_id, scopes };
      return { type: 'oauth.authorized', data: { ...of, resource: resource ?? '' } };
    }
    // A registration signs in as well, but it has its own event.
    if (data.via !== 'login') return undefined;
    const { streamId } = event;
    const user = await tools.open(data.user, { streamId, field: 'user' });
    const session = await loginSessionOf(data, streamId, tools);
    return {
      type: 'user.login',
      data: {
        ...readSnapshot(user, { id: data.user_id, at: data.started_at }),
        method: data.method,
        amr: [...data.amr],
        session,
      },
    };
  },
  SessionRevoked: ({ data }) => ({
    type: 'session.revoked',
    data: {
      id: data.id,
      user_id: data.user_id,
      reason: data.reason ?? 'user',
      client_id: data.client_id,
    },
  }),
  SessionRefreshRepeated: ({ data }) => ({
    type: 'session.refresh_repeated',
    data: { id: data.id, user_id: data.user_id },
  }),
  SessionStepped: ({ data: { user_id: id, method: type, factor_id } }) => ({
    type: 'user.factor_changed',
    // A password has no factor id, so the user's id is published.
    data: { id, factor_id: factor_id ?? id, type, change: 'stepped' },
  }),
});

async function loginSessionOf(data: SessionFacts, streamId: string, tools: RelayTools) {
  const [ip, userAgent] = await Promise.all([
    tools.open(data.ip, { streamId, field: 'ip' }),
    tools.open(data.user_agent, { streamId, field: 'user_agent' }),
  ]);
  return {
    id: data.id,
    family_id: data.id,
    ip_address: ip,
    user_agent: userAgent,
    ...deviceOf(userAgent),
    started_at: data.started_at,
    last_active_at: data.last_active_at,
    expires_at: data.expires_at,
  };
}
