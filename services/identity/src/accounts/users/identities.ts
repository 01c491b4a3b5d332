/**
 * External accounts (Google, GitHub, Microsoft) by which a user signs in, at most one per provider. The provider's id
 * of the account is encrypted. A keyed hash of it names the reservation that makes it unique in its tenant.
 */
import type { Sealed } from '@cardea/crypto';
import type { SocialProvider } from '../../workspaces/workspaces.module.ts';

export type LinkedIdentity = {
  readonly provider: SocialProvider;
  /** The id of the reservation `external-<hash>`. */
  readonly hash: string;
  readonly linkedAt: string;
};

export type IdentityEvent =
  | {
      readonly type: 'IdentityLinked';
      readonly concerns?: 'relay' | 'notify_security_changes' | 'users';
      readonly data: {
        readonly id: string;
        readonly provider: SocialProvider;
        readonly subject: Sealed;
        readonly hash: string;
        /** The providers of all accounts that are linked now. */
        readonly providers: readonly SocialProvider[];
        readonly at: string;
      };
    }
  | {
      readonly type: 'IdentityUnlinked';
      readonly concerns?:
        | 'relay'
        | 'notify_security_changes'
        | 'release_unlinked_identities'
        | 'users';
      readonly data: {
        readonly id: string;
        readonly provider: SocialProvider;
        readonly hash: string;
        readonly providers: readonly SocialProvider[];
        readonly at: string;
      };
    };

export function changedIdentities(
  before: readonly LinkedIdentity[],
  { type, data: { provider, hash, at } }: IdentityEvent,
): readonly LinkedIdentity[] {
  const others = before.filter((identity) => identity.provider !== provider);
  switch (type) {
    case 'IdentityLinked':
      return [...others, { provider, hash, linkedAt: at }];
    case 'IdentityUnlinked':
      return others;
  }
}

export type NewIdentity = {
  readonly provider: SocialProvider;
  readonly subject: Sealed;
  readonly hash: string;
};

export const identityLinked = (
  id: string,
  { provider, subject, hash }: NewIdentity,
  { before, now }: { readonly before: readonly LinkedIdentity[]; readonly now: Date },
): IdentityEvent => {
  const providers = [...before.map((one) => one.provider), provider];
  const data = { id, provider, subject, hash, providers, at: now.toISOString() };
  return { type: 'IdentityLinked', data };
};
