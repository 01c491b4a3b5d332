/**
 * The state of account, consent and client on which an artifact of the authorization server depends. It is recorded
 * when the artifact is stored and compared with the streams at each use.
 */
import type { ServiceDependencies } from '@cardea/service';
import { type UserDirectory, userNow } from '../../accounts/accounts.module.ts';
import type { ArtifactBasis, RestingArtifact } from '../../adapters/authorization-ports.ts';
import { type ConsentEpoch, goesOn, sessions } from '../../sessions/sessions.module.ts';
import { type Basis, stands } from '../../streams/basis.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import { PAGES_CONSENT_EPOCH, userOfPagesConsent } from '../page-sign-in/pages-client.ts';
import type { OAuthClients } from './clients.ts';
import { readGrantId } from './user-consents.ts';

export type BasisDependencies = Pick<ServiceDependencies, 'clock' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly consentEpoch: ConsentEpoch;
  readonly clients: Pick<OAuthClients, 'version'>;
};

export async function basisOf(
  { streams, clients }: BasisDependencies,
  { tenantId, clientId, user, grantId }: RestingArtifact,
): Promise<ArtifactBasis> {
  const [session, version] = await Promise.all([
    user === undefined ? undefined : streams.load(sessions, { tenantId, id: user.browserSid }),
    isDocumentId(clientId) ? undefined : clients.version(clientId),
  ]);
  const basis: Basis = {
    // The epoch recorded at the sign-in. If it has passed by now, it is not replaced by the current one.
    ...(user === undefined ? {} : { user_epoch: epochOf(session?.state), sid: user.browserSid }),
    ...(grantId === undefined ? {} : { consent: readGrantId(grantId) }),
    ...(version === undefined ? {} : { application: { id: clientId, version: version ?? NONE } }),
  };
  return { tenantId, userId: user?.id, basis };
}

const epochOfConsent = (
  consentEpoch: ConsentEpoch,
  tenantId: string,
  id: string,
): Promise<number | null> | number =>
  userOfPagesConsent(id) === undefined ? consentEpoch(tenantId, id) : PAGES_CONSENT_EPOCH;

/** A value that equals no epoch and no version. */
const NONE = -1;

const epochOf = (
  session: { readonly status: 'none' } | { readonly user_epoch: number } | undefined,
): number => (session !== undefined && 'user_epoch' in session ? session.user_epoch : NONE);

/**
 * Returns the account's epoch if the artifact is still valid (null for an artifact without a user). Returns undefined
 * if it is not valid.
 */
export async function artifactStatus(
  { streams, userDirectory, consentEpoch, clients, clock }: BasisDependencies,
  { tenantId, userId, basis }: ArtifactBasis,
): Promise<{ readonly userEpoch: number | null } | undefined> {
  const { sid, consent, application } = basis;
  const [user, session, consentNow, version] = await Promise.all([
    userId === undefined ? undefined : userDirectory.byId(tenantId, userId),
    sid === undefined ? undefined : streams.load(sessions, { tenantId, id: sid }),
    consent === undefined ? null : epochOfConsent(consentEpoch, tenantId, consent.id),
    application === undefined ? null : clients.version(application.id),
  ]);
  const state = session?.state;
  const now = userNow(user ?? { status: 'none' });
  const isGood = stands(basis, {
    user: now,
    sessionGoesOn: state?.status === 'known' && goesOn(state, clock.now()),
    consentEpoch: consentNow,
    applicationVersion: version,
  });
  return isGood ? { userEpoch: userId === undefined ? null : now.epoch } : undefined;
}
