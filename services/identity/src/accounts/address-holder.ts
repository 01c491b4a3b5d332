/**
 * Who has an address anywhere in the deployment, as a sign-up asks: the account whose holder proved the address,
 * or one that somebody registered for themselves within the last minute. What an administrator says of an address
 * counts in their tenant alone, or any tenant could keep others from signing up.
 */
import type { Database } from '@cardea/read-models';
import type { Owner } from '../streams/reservation.ts';

/** As long as a reservation stays with an owner who has not proved the address. */
const UNPROVEN_HOLDS_MS = 60_000;

/** Who says that the address belongs to the account. */
export type AddressFrom = 'proof' | 'registrant' | 'administrator';

/** Accounts other than `except`; the oldest with a proven address before others. */
export type AddressHolder = (of: {
  readonly email: string;
  readonly except: string;
  readonly now: Date;
}) => Promise<Owner | undefined>;

export const addressHolder =
  ({ database }: { readonly database: Pick<Database, 'system'> }): AddressHolder =>
  async ({ email, except, now }) => {
    const { rows } = await database.system.query<{ tenant_id: string; id: string }>(
      `SELECT tenant_id, id FROM identity.users
       WHERE email = $1 AND id <> $2
         AND (address_from = 'proof' OR (address_from = 'registrant' AND created_at > $3))
       ORDER BY address_from, created_at, id LIMIT 1`,
      [email, except, new Date(now.getTime() - UNPROVEN_HOLDS_MS)],
    );
    const [holder] = rows;
    return holder && { tenantId: holder.tenant_id, userId: holder.id };
  };
