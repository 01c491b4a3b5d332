/**
 * Whether users, agents, keys and sessions are revoked according to their streams, regardless of the revocation lists.
 * Other services ask this while the shared cache is unreachable. An id without a stream is not revoked, but it is no
 * credential either.
 */
import type { Revocation } from '@cardea/auth';
import { streamIdOf } from '@cardea/event-store';
import type { Peers, ServiceDependencies } from '@cardea/service';
import { exists, signInsBefore, type UserDirectory, users } from '../accounts/accounts.module.ts';
import {
  type AgentSessionEvent,
  agentKeys,
  agentSessions,
  agents,
  whyEnded,
} from '../agents/agents.module.ts';
import { consents } from '../consents/consents.module.ts';
import { apiKeys } from '../credentials/credentials.module.ts';
import { isAlive, sessions, validityContextOf } from '../sessions/sessions.module.ts';
import type { SnapshotCache } from '../streams/snapshot-cache.ts';
import { applications, tenants } from '../workspaces/workspaces.module.ts';

type Dependencies = Pick<ServiceDependencies, 'store' | 'streams' | 'clock' | 'revocations'> & {
  readonly snapshots: SnapshotCache;
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export const revokedByStream =
  (needs: Dependencies): Peers['identity']['ended'] =>
  async ({ marks }) => ({
    ended: await Promise.all(
      marks.map(
        // An entry that this process has just added may not be in any stream yet.
        async (mark) =>
          needs.revocations.isRevoked(mark.kind, mark.id, mark.at) || isOver(needs, mark),
      ),
    ),
  });

async function isOver(needs: Dependencies, { kind, id, at = 0 }: Revocation): Promise<boolean> {
  const { snapshots, store, clock } = needs;
  switch (kind) {
    case 'tenant': {
      const status = (await snapshots.find(tenants, id))?.state.status;
      return status === 'closed' || status === 'deleted';
    }
    case 'rank': {
      const user = (await snapshots.find(users, id))?.state;
      if (user !== undefined) return exists(user) && at < user.tokensBefore;
      const application = (await snapshots.find(applications, id))?.state;
      return application?.status === 'active' && at < application.tokensBefore;
    }
    case 'signin': {
      const user = (await snapshots.find(users, id))?.state;
      if (user === undefined || !exists(user)) return false;
      return user.epoch > 0 && at < signInsBefore(user.epochSince);
    }
    case 'user': {
      const status = (await snapshots.find(users, id))?.state.status;
      return status === 'disabled' || status === 'deleted';
    }
    case 'agent': {
      const status = (await snapshots.find(agents, id))?.state.status;
      return status === 'suspended' || status === 'deleted';
    }
    case 'key': {
      const found = (await snapshots.find(apiKeys, id)) ?? (await snapshots.find(agentKeys, id));
      if (found !== undefined) return found.state.status === 'revoked';
      return (await snapshots.find(applications, id))?.state.status === 'deleted';
    }
    case 'consent': {
      const [consentId = '', epoch] = id.split('.');
      const consent = (await snapshots.find(consents, consentId))?.state;
      if (consent === undefined || consent.status === 'none') return false;
      return consent.status === 'revoked' || String(consent.epoch) !== epoch;
    }
    case 'asid': {
      const last = await store.readLast(streamIdOf(agentSessions, id));
      if (last === undefined) return false;
      if (last.type === 'AgentSessionEnded') return true;
      const at = { tenantId: last.metadata.tenantId, now: clock.now() };
      return (await whyEnded(needs, last.data as AgentSessionEvent['data'], at)) !== undefined;
    }
    case 'sid': {
      const session = (await snapshots.find(sessions, id))?.state;
      if (session === undefined || session.status === 'none') return false;
      const user = (await snapshots.find(users, session.user_id))?.state;
      if (user === undefined) return true;
      // The tenant and the consent have separate entries.
      const validity = validityContextOf(user, true, session.consent_epoch);
      return !isAlive(session, validity, clock.now());
    }
  }
}
