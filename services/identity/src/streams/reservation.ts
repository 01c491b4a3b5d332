/** Names that only one owner may have. The log contains only keyed hashes of them. */
import { reservation } from '@cardea/event-store';

/** An address within a tenant. */
export const emailReservations = reservation('email');
/** An address used for a sign-up, in the whole deployment. */
export const signupReservations = reservation('signup');
/** A tenant's slug, in the whole deployment. */
export const slugReservations = reservation('slug');
/** An agent's name within a tenant. */
export const agentNameReservations = reservation('agentname');

/** A resource server's identifier, in the whole deployment. */
export const resourceReservations = reservation('resource');
/** An external account, by which one user of a tenant signs in. */
export const externalReservations = reservation('external');

export const reservationStreams = [
  emailReservations,
  signupReservations,
  slugReservations,
  agentNameReservations,
  resourceReservations,
  externalReservations,
];

/** A user that exists or is being created. */
export type Owner = { readonly tenantId: string; readonly userId: string };
export const printOwner = ({ tenantId, userId }: Owner): string => `${tenantId}/${userId}`;
/** The owner that a reservation names. */
export const readOwner = (text: string): Owner => {
  const [tenantId = '', userId = ''] = text.split('/');
  return { tenantId, userId };
};
