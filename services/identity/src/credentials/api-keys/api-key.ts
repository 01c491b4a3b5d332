/** An API key (`svc_…`) authenticates a tenant's backend, within its scopes. */
import type { KeyEnvironment } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import {
  afterRotation,
  firstSecret,
  type KeySecret,
  rotatedSecret,
} from '../../streams/key-secret.ts';

export type ApiKeyData = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly environment: KeyEnvironment;
  readonly app_id: string | null;
  readonly created_by: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
};

export type ApiKeyEvent =
  | {
      readonly type: 'ApiKeyIssued';
      readonly concerns?: 'relay' | 'api_keys';
      readonly data: ApiKeyData & { readonly hash: string; readonly request_hash: string | null };
    }
  | {
      readonly type: 'ApiKeyRotated';
      readonly concerns?: 'relay' | 'revocation_rules';
      readonly data: {
        readonly id: string;
        readonly hash: string;
        readonly previous_hash: string | null;
        readonly previous_until: string | null;
      };
    }
  | {
      readonly type: 'ApiKeyRevoked';
      readonly data: { readonly id: string; readonly revoked_at: string };
    };

export type IssuedApiKey = {
  readonly status: 'active' | 'revoked';
  readonly key: ApiKeyData;
  readonly secret: KeySecret;
  readonly requestHash: string | null;
};
export type ApiKey = { readonly status: 'none' } | IssuedApiKey;

export const apiKeys: Stream<ApiKey, ApiKeyEvent> = {
  noun: 'apikey',
  initial: { status: 'none' },
  evolve: (before, { type, data }) => {
    if (type === 'ApiKeyIssued') {
      const { hash, request_hash: requestHash, ...key } = data;
      return { status: 'active', key, secret: firstSecret(hash), requestHash };
    }
    if (before.status === 'none') return before;
    switch (type) {
      case 'ApiKeyRotated':
        return { ...before, secret: afterRotation(before.secret, data) };
      case 'ApiKeyRevoked':
        return { ...before, status: 'revoked' };
    }
  },
};

export function issueApiKey(
  command: ApiKeyData & { readonly hash: string; readonly request_hash: string | null },
  key: ApiKey,
): Decision<ApiKeyEvent, 'already_created'> {
  return key.status === 'none'
    ? accept({ type: 'ApiKeyIssued', data: command })
    : refuse('already_created');
}

export function rotateApiKey(
  command: { readonly hash: string; readonly graceSeconds: number; readonly now: Date },
  key: ApiKey,
): Decision<ApiKeyEvent, 'not_found'> {
  if (key.status !== 'active') return refuse('not_found');
  const rotated = rotatedSecret(key.secret, command);
  return accept({ type: 'ApiKeyRotated', data: { id: key.key.id, ...rotated } });
}

/** Revokes the key. Repeating it changes nothing. */
export function revokeApiKey(now: Date, key: ApiKey): Decision<ApiKeyEvent, 'not_found'> {
  if (key.status === 'none') return refuse('not_found');
  if (key.status === 'revoked') return accept();
  const revoked_at = now.toISOString();
  return accept({ type: 'ApiKeyRevoked', data: { id: key.key.id, revoked_at } });
}
