/** The details of a mail besides its address. They are stored encrypted until the mail is sent. */
import type { GeoIp } from '@cardea/runtime';
import type { Device } from '../../adapters/device.ts';

/** Device and location of the reported action, if they are known. */
export type Whence = {
  /** The time in ISO 8601. */
  readonly at: string;
  readonly browser: string;
  readonly os: string;
  readonly city: string | null;
  readonly country: string | null;
};

export function whenceOf(
  geoIp: GeoIp,
  ip: string | null,
  { browser, os }: Device,
): Omit<Whence, 'at'> {
  const location = geoIp.locationOf(ip);
  return { browser, os, city: location?.city ?? null, country: location?.country ?? null };
}

/** The inviter. They belong to another tenant if an owner has just created this one. */
export type InviterOf = { readonly tenantId: string; readonly userId: string };

/** Changes to how a person signs in to an account, and an administrator who acts in that person's name. */
export const SECURITY_CHANGES = [
  'password_changed',
  'password_reset',
  'passkey_added',
  'passkey_removed',
  'authenticator_added',
  'authenticator_removed',
  'recovery_codes_made',
  'recovery_code_used',
  'account_linked',
  'account_unlinked',
  'email_changed',
  'email_left',
  'email_change_stopped',
  'deletion_scheduled',
  'deletion_near',
  'deletion_cancelled',
  'deletion_last_admin',
  'impersonated',
  'account_disabled',
  'account_deleted',
] as const;
export type SecurityChange = (typeof SECURITY_CHANGES)[number];

export type MailDetails = Partial<Whence> & {
  /** Set for the purpose `invitation`. */
  readonly inviter?: InviterOf;
  /** Set for the purpose `security_notice`, as are the members below. */
  readonly change?: SecurityChange;
  readonly isByAdministrator?: boolean;
  /** The provider of the account that was linked or unlinked. */
  readonly provider?: string;
  /** The number of recovery codes that still work. */
  readonly codesLeft?: number;
  /** ISO 8601: when the account will be deleted, or will have another address. */
  readonly day?: string;
  /** Set for the purposes `email_change` and `email_change_stop`. */
  readonly emailChange?: { readonly id: string; readonly userId: string };
};
