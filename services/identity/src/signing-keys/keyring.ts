/**
 * The signing keys of one algorithm. Pending keys are published before they sign. One key is active. Retired keys stay
 * published until their tokens have expired (`docs/design/tokens.md`, Signing keys).
 */
import type { Sealed } from '@cardea/crypto';
import { accept, type Decision, refuse, type Stream } from '@cardea/event-store';
import type { KeyAlgorithm, SigningJwk } from '../adapters/key-algorithms.ts';

export type KeyringKey = {
  readonly kid: string;
  readonly publicJwk: SigningJwk;
  readonly private: Sealed;
  readonly state: 'pending' | 'active' | 'retired';
  readonly createdAt: string;
  readonly activateAt: string;
  readonly activatedAt: string | null;
  readonly retiredAt: string | null;
  readonly publishUntil: string | null;
};

export type Keyring = { readonly keys: readonly KeyringKey[] };

export type KeyringEvent =
  | {
      readonly type: 'KeyAdded';
      readonly concerns?: 'tell_changed_keys';
      readonly data: {
        readonly kid: string;
        readonly public_jwk: SigningJwk;
        readonly private: Sealed;
        readonly origin: 'random';
        readonly activate_at: string;
        /** The time when the key was created. Older keys lack it; they were created when they began to sign. */
        readonly at?: string;
      };
    }
  | { readonly type: 'KeyActivated'; readonly data: { readonly kid: string; readonly at: string } }
  | {
      readonly type: 'KeyRetired';
      readonly concerns?: 'relay';
      readonly data: {
        readonly kid: string;
        readonly at: string;
        readonly publish_until: string;
      };
    }
  | {
      readonly type: 'KeyResealed';
      readonly concerns?: never;
      readonly data: { readonly kid: string; readonly private: Sealed };
    }
  | { readonly type: 'KeyRemoved'; readonly data: { readonly kid: string } };

/**
 * Each algorithm has a ring in its own stream. A process of an earlier version reads only the EdDSA ring, so it works
 * during an upgrade.
 */
export const KEYRINGS: { readonly [Algorithm in KeyAlgorithm]: string } = {
  EdDSA: 'main',
  RS256: 'rs256',
  ES256: 'es256',
};

export const keyrings: Stream<Keyring, KeyringEvent> = {
  noun: 'keyring',
  initial: { keys: [] },
  evolve: ({ keys }, { type, data }) => {
    const changed = (change: Partial<KeyringKey>) => ({
      keys: keys.map((key) => (key.kid === data.kid ? { ...key, ...change } : key)),
    });
    switch (type) {
      case 'KeyAdded':
        return {
          keys: [
            ...keys,
            {
              kid: data.kid,
              publicJwk: data.public_jwk,
              private: data.private,
              state: 'pending',
              createdAt: data.at ?? data.activate_at,
              activateAt: data.activate_at,
              activatedAt: null,
              retiredAt: null,
              publishUntil: null,
            },
          ],
        };
      case 'KeyActivated':
        return changed({ state: 'active', activatedAt: data.at });
      case 'KeyRetired':
        return changed({
          state: 'retired',
          retiredAt: data.at,
          publishUntil: data.publish_until,
        });
      case 'KeyResealed':
        return changed({ private: data.private });
      case 'KeyRemoved':
        return { keys: keys.filter((key) => key.kid !== data.kid) };
    }
  },
};

/** After this time a retired key's tokens and the verifiers' cached copies have expired. */
const PUBLISHED_AFTER_RETIREMENT_MS = 48 * 3600_000;

export type NewKey = {
  readonly kid: string;
  readonly publicJwk: SigningJwk;
  readonly private: Sealed;
};

export const pendingKey = ({ keys }: Keyring): KeyringKey | undefined =>
  keys.find((key) => key.state === 'pending');

export const activeKey = ({ keys }: Keyring): KeyringKey | undefined =>
  keys.findLast((key) => key.state === 'active');

/** The first key of a deployment signs at once. A second process uses the first one's key. */
export function addFirstKey(
  key: NewKey,
  now: Date,
  ring: Keyring,
): Decision<KeyringEvent, 'key_exists'> {
  if (activeKey(ring) !== undefined) return refuse('key_exists');
  const at = now.toISOString();
  // A crash between adding and activating leaves a pending key, which is activated here.
  const waiting = pendingKey(ring);
  if (waiting !== undefined) {
    return accept({ type: 'KeyActivated', data: { kid: waiting.kid, at } });
  }
  return accept<KeyringEvent>(added(key, now), {
    type: 'KeyActivated',
    data: { kid: key.kid, at },
  });
}

/** Replaces a key that can no longer be decrypted: another key signs at once, and the old one stays published. */
export function replaceKey(
  lostKid: string,
  key: NewKey,
  now: Date,
  ring: Keyring,
): Decision<KeyringEvent, 'replaced_already'> {
  if (activeKey(ring)?.kid !== lostKid) return refuse('replaced_already');
  const at = now.toISOString();
  return accept<KeyringEvent>(
    added(key, now),
    { type: 'KeyActivated', data: { kid: key.kid, at } },
    retired(lostKid, now),
  );
}

export const retired = (kid: string, now: Date): KeyringEvent => ({
  type: 'KeyRetired',
  data: {
    kid,
    at: now.toISOString(),
    publish_until: new Date(now.getTime() + PUBLISHED_AFTER_RETIREMENT_MS).toISOString(),
  },
});

export const added = (key: NewKey, now: Date, activateAt = now): KeyringEvent => ({
  type: 'KeyAdded',
  data: {
    kid: key.kid,
    public_jwk: key.publicJwk,
    private: key.private,
    origin: 'random',
    activate_at: activateAt.toISOString(),
    at: now.toISOString(),
  },
});

/** The keys that verifiers may need: every key that has signed, signs, or will sign. */
export const published = ({ keys }: Keyring): readonly SigningJwk[] =>
  keys.map((key) => key.publicJwk);
