/**
 * Finds the account that has an address in the whole deployment, for a sign-up. That is the account whose holder proved
 * the address, or one that was registered within the last minute. An address that an administrator entered counts in
 * that administrator's tenant only; otherwise any tenant could keep others from signing up.
 */
import type { Database } from '@cardea/read-models';
import type { Owner } from '../streams/reservation.ts';

/** How long a reservation by an owner without a proven address lasts. */
const UNPROVEN_HOLDS_MS = 60_000;

/** The source of the statement that the address belongs to the account. */
export type AddressFrom = 'proof' | 'registrant' | 'administrator';

/** Finds accounts other than `except`. Accounts with a proven address come first, the oldest first. */
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
