/**
 * What an opaque key is worth now. The door has tested its checksum; here its stream, its secret, its
 * end and whoever stands behind it are looked at. Whatever is not live is simply unknown.
 */
import type { IntrospectedKey } from '@cardea/auth';
import { type CredentialKey, parseKey } from '@cardea/crypto';
import type { Clock, Logger } from '@cardea/runtime';
import type { Peers } from '@cardea/service';
import { agentKeys } from '../agents/agent-keys/agent-key.ts';
import { agents } from '../agents/agents/agent.ts';
import type { Folded } from '../streams/folded.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';
import { apiKeys } from './api-keys/api-key.ts';
import { type KeySecret, recognise } from './key-secret.ts';

type Needs = {
  readonly folded: Folded;
  readonly workspaces: Workspaces;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Told of every use; answers once it is noted. */
  readonly noteUse: (of: {
    readonly id: string;
    readonly kind: 'svc' | 'agk';
    readonly tenantId: string;
  }) => Promise<void>;
};

type OpaqueKey = Extract<CredentialKey, { kind: 'svc' | 'agk' }>;

export const introspector =
  (needs: Needs): Peers['introspect'] =>
  async (credential) => {
    const key = parseKey(credential);
    if (key?.kind !== 'svc' && key?.kind !== 'agk') return undefined;
    const known = key.kind === 'svc' ? await apiKey(needs, key) : await agentKey(needs, key);
    if (known === undefined) return undefined;
    if ((await needs.workspaces.tenant(known.tenantId)) === undefined) return undefined;
    const { id, kind } = key;
    // Nobody waits for it: when a key was last used is worth no delay and no refusal.
    needs.noteUse({ id, kind, tenantId: known.tenantId }).catch(() => {
      needs.log.warn({ keyId: id }, 'the use of a key was not noted');
    });
    return known;
  };

async function apiKey(needs: Needs, presented: OpaqueKey): Promise<IntrospectedKey | undefined> {
  const found = await needs.folded.find(apiKeys, presented.id);
  if (found?.state.status !== 'active') return undefined;
  const { key, secret } = found.state;
  const live = standing(needs, presented, { ...key, secret });
  if (live === undefined) return undefined;
  return {
    kind: 'api_key',
    id: key.id,
    tenantId: found.tenantId,
    scopes: key.scopes,
    environment: key.environment,
    appId: key.app_id,
    ...live,
  };
}

async function agentKey(needs: Needs, presented: OpaqueKey): Promise<IntrospectedKey | undefined> {
  const found = await needs.folded.find(agentKeys, presented.id);
  if (found?.state.status !== 'active') return undefined;
  const { key, secret } = found.state;
  const { tenantId } = found;
  const live = standing(needs, presented, { ...key, secret });
  if (live === undefined) return undefined;
  const agent = await needs.folded.load(agents, { tenantId, id: key.agent_id });
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

const MS = 1_000;

type Kept = {
  readonly id: string;
  readonly environment: string;
  readonly expires_at: string | null;
  readonly secret: KeySecret;
};

/** Until when the presented secret stands, in Unix seconds; undefined when it does not. */
function standing({ clock }: Needs, presented: OpaqueKey, kept: Kept) {
  const now = clock.now();
  const recognised = recognise(presented.secret, kept.secret, now);
  if (recognised === undefined || presented.environment !== kept.environment) return undefined;
  const ends = [kept.expires_at, recognised.until]
    .filter((end) => end !== null)
    .map((end) => new Date(end).getTime());
  if (ends.some((end) => end <= now.getTime())) return undefined;
  const expiresAt = ends.length === 0 ? null : Math.min(...ends) / MS;
  return { expiresAt, stamp: `${kept.id}.${recognised.stamp}` };
}
