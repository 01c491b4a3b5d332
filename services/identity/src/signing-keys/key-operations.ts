/** Operations on the key ring for the command line. */
import type { KeyringKey } from './keyring.ts';
import type { OpenedKey } from './private-halves.ts';
import type { AnnouncedKey, Revoked, SigningKeys } from './signing-keys.ts';

/** The status of a key, for operators. */
type KeyStatus = {
  readonly kid: string;
  readonly alg: KeyringKey['publicJwk']['alg'];
  readonly state: KeyringKey['state'];
  readonly activate_at: string;
  readonly activated_at: string | null;
  readonly publish_until: string | null;
  /** Which JWT_SECRET encrypts its private key. */
  readonly sealed_under: OpenedKey['under'];
};

export type KeyOperations = {
  readonly keys: () => Promise<readonly KeyStatus[]>;
  /** Announces one key for each algorithm. */
  readonly announceKeys: (activateAt: Date) => Promise<readonly AnnouncedKey[]>;
  readonly promoteKeys: (keys: readonly AnnouncedKey[]) => Promise<boolean>;
  readonly revokeKeys: () => Promise<Revoked>;
  /** Encrypts the keys that sign, or will sign, again under the current JWT_SECRET. Returns their number. */
  readonly resealKeys: () => Promise<number>;
};

export const keyOperations = (
  signingKeys: Pick<
    SigningKeys,
    'announce' | 'promote' | 'reseal' | 'revoke' | 'ring' | 'sealedUnder'
  >,
): KeyOperations => ({
  keys: async () => {
    const { keys } = await signingKeys.ring();
    return Promise.all(keys.map(async (key) => statusOf(key, await signingKeys.sealedUnder(key))));
  },
  announceKeys: (activateAt) => signingKeys.announce(activateAt),
  promoteKeys: (keys) => signingKeys.promote(keys),
  revokeKeys: () => signingKeys.revoke(),
  resealKeys: signingKeys.reseal,
});

const statusOf = (key: KeyringKey, sealedUnder: OpenedKey['under']): KeyStatus => ({
  kid: key.kid,
  alg: key.publicJwk.alg,
  state: key.state,
  activate_at: key.activateAt,
  activated_at: key.activatedAt,
  publish_until: key.publishUntil,
  sealed_under: sealedUnder,
});
