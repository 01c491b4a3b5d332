/** Reads and changes what a user has granted to an application, for the authorization server. */
import type { Command, Streams } from '@cardea/event-store';
import type { Settings } from '@cardea/runtime';
import {
  type Consent,
  type ConsentedClaim,
  consentId,
  consents,
  type GivenConsent,
  type Granted,
  grant,
} from '../../consents/consents.module.ts';
import type { SnapshotCache } from '../../streams/snapshot-cache.ts';
import { pagesClientId, pagesConsent, userOfPagesConsent } from '../page-sign-in/pages-client.ts';
import { builtInResource } from '../resource-servers/known-resources.ts';

type Of = { readonly tenantId: string; readonly userId: string; readonly clientId: string };

export type UserConsents = {
  readonly active: (of: Of) => Promise<GivenConsent | undefined>;
  readonly byGrantId: (grantId: string) => Promise<GivenConsent | undefined>;
  readonly grant: (
    of: Of & {
      readonly granted: Granted;
      readonly claims?: readonly ConsentedClaim[];
      readonly by: 'user' | 'policy';
    },
    command: Command,
  ) => Promise<bigint | undefined>;
};

/** The id of a consent in one epoch. The library uses it as the id of a grant. */
export const grantIdOf = ({ id, epoch }: Pick<GivenConsent, 'id' | 'epoch'>): string =>
  `${id}.${epoch}`;

export const readGrantId = (grantId: string): { readonly id: string; readonly epoch: number } => {
  const [id = '', epoch] = grantId.split('.');
  return { id, epoch: Number(epoch) };
};

/** Unix seconds: the earliest `iat` of tokens of this consent. */
export const tokensFrom = ({ grantedAt, revokedAt }: GivenConsent): number => {
  const ended = revokedAt === null ? 0 : Math.floor(new Date(revokedAt).getTime() / 1000) + 1;
  return Math.max(ended, Math.floor(new Date(grantedAt).getTime() / 1000));
};

export function userConsents(needs: {
  readonly streams: Streams;
  readonly snapshots: Pick<SnapshotCache, 'find' | 'load'>;
  readonly settings: Pick<Settings, 'ISSUER'>;
}): UserConsents {
  const resource = builtInResource(needs.settings);
  const given = (consent: Consent) => (consent.status === 'active' ? consent : undefined);
  return {
    active: async (of) => {
      if (of.clientId === pagesClientId(of.tenantId)) return pagesConsent(of, resource);
      const id = consentId(of);
      return given(await needs.snapshots.load(consents, { tenantId: of.tenantId, id }));
    },
    byGrantId: async (grantId) => {
      const { id, epoch } = readGrantId(grantId);
      const user = userOfPagesConsent(id);
      if (user !== undefined) return pagesConsent(user, resource);
      const found = await needs.snapshots.find(consents, id);
      const consent = found === undefined ? undefined : given(found.state);
      return consent?.epoch === epoch ? consent : undefined;
    },
    grant: async ({ tenantId, userId, clientId, granted, claims = [], by }, command) => {
      if (clientId === pagesClientId(tenantId)) return undefined;
      const id = consentId({ tenantId, userId, clientId });
      const asked = { id, userId, clientId, granted, claims, by, now: command.now };
      const decided = await needs.streams.decideOn(consents, id, command, (consent) =>
        grant(asked, consent),
      );
      return decided.position;
    },
  };
}
