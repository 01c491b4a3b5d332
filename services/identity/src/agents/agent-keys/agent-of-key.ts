/** Finds the agent of a presented key, if key and agent are live. */
import type { IntrospectedKey } from '@cardea/auth';
import type { Clock } from '@cardea/runtime';
import { liveKey, type OpaqueKey } from '../../credentials/credentials.module.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { agents } from '../agents/agent.ts';
import { agentKeys } from './agent-key.ts';

export async function agentOfKey(
  needs: { readonly snapshots: SnapshotCache; readonly clock: Pick<Clock, 'now'> },
  presented: OpaqueKey,
): Promise<IntrospectedKey | undefined> {
  const found = await needs.snapshots.find(agentKeys, presented.id);
  if (found?.state.status !== 'active') return undefined;
  const { key, secret } = found.state;
  const { tenantId } = found;
  const live = liveKey(needs, presented, { ...key, secret });
  if (live === undefined) return undefined;
  const agent = await needs.snapshots.load(agents, { tenantId, id: key.agent_id });
  if (agent.status !== 'active') return undefined;
  return {
    kind: 'agent',
    id: key.agent_id,
    tenantId,
    via: 'key',
    userId: null,
    agentSessionId: null,
    keyId: key.id,
    appId: agent.agent.app_id,
    allowedCidrs: key.allowed_cidrs,
    ...live,
  };
}
