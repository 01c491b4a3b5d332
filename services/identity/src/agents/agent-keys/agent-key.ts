/** An agent's key (`agk_…`), with which an agent authenticates when it opens sessions. */
import type { KeyEnvironment } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import {
  afterRotation,
  firstSecret,
  type KeySecret,
  rotatedSecret,
} from '../../credentials/credentials.module.ts';

export type AgentKeyData = {
  readonly id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly environment: KeyEnvironment;
  /** Empty allows any address. */
  readonly allowed_cidrs: readonly string[];
  readonly created_at: string;
  readonly expires_at: string;
};

export type AgentKeyEvent =
  | {
      readonly type: 'AgentKeyIssued';
      readonly concerns?: 'relay' | 'agent_keys';
      readonly data: AgentKeyData & { readonly hash: string; readonly request_hash: string | null };
    }
  | {
      readonly type: 'AgentKeyRotated';
      readonly concerns?: 'relay' | 'revocation_rules';
      readonly data: {
        readonly id: string;
        readonly hash: string;
        readonly previous_hash: string | null;
        readonly previous_until: string | null;
      };
    }
  | {
      readonly type: 'AgentKeyRevoked';
      readonly data: {
        readonly id: string;
        readonly agent_id: string;
        readonly revoked_at: string;
      };
    };

export type IssuedAgentKey = {
  readonly status: 'active' | 'revoked';
  readonly key: AgentKeyData;
  readonly secret: KeySecret;
  readonly requestHash: string | null;
};
export type AgentKey = { readonly status: 'none' } | IssuedAgentKey;

export const agentKeys: Stream<AgentKey, AgentKeyEvent> = {
  noun: 'agentkey',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'AgentKeyIssued') {
      const { hash, request_hash: requestHash, ...key } = data;
      return { status: 'active', key, secret: firstSecret(hash), requestHash };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'AgentKeyRotated':
        return { ...before, secret: afterRotation(before.secret, data) };
      case 'AgentKeyRevoked':
        return { ...before, status: 'revoked' };
    }
  },
};

export function issueAgentKey(
  command: AgentKeyData & { readonly hash: string; readonly request_hash: string | null },
  key: AgentKey,
): Decision<AgentKeyEvent, 'already_created'> {
  return key.status === 'none'
    ? accept({ type: 'AgentKeyIssued', data: command })
    : refuse('already_created');
}

export type RotateAgentKey = {
  readonly agentId: string;
  readonly hash: string;
  readonly graceSeconds: number;
  readonly now: Date;
};

export function rotateAgentKey(
  command: RotateAgentKey,
  key: AgentKey,
): Decision<AgentKeyEvent, 'not_found'> {
  if (key.status !== 'active' || key.key.agent_id !== command.agentId) return refuse('not_found');
  const rotated = rotatedSecret(key.secret, command);
  return accept({ type: 'AgentKeyRotated', data: { id: key.key.id, ...rotated } });
}

/** Revokes the key. Repeating it changes nothing. */
export function revokeAgentKey(
  { agentId, now }: { readonly agentId: string; readonly now: Date },
  key: AgentKey,
): Decision<AgentKeyEvent, 'not_found'> {
  if (key.status === 'none' || key.key.agent_id !== agentId) return refuse('not_found');
  if (key.status === 'revoked') return accept();
  const revoked_at = now.toISOString();
  return accept({
    type: 'AgentKeyRevoked',
    data: { id: key.key.id, agent_id: agentId, revoked_at },
  });
}
