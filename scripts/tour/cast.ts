/** The participants of the story, and the values that its steps pass on. */
import type { Phone } from './phone.ts';
import type { Player, Reply } from './player.ts';
import type { Receiver } from './receiver.ts';

/** The values that the steps pass on. */
export type Cast = {
  readonly player: Player;
  /** The URL of `/dev/mailbox`. If it is undefined, steps that need a mail are skipped. */
  readonly mailbox: string | undefined;
  /** The browser in which the user decides. Undefined if the user decides over the API. */
  readonly phone: Phone | undefined;
  readonly run: string;
  tenantId: string;
  adminToken: string;
  adminEmail: string;
  userId: string;
  userToken: string;
  userRefresh: string;
  hooks: Receiver;
  hookSecret: string;
  /** Audit types that must be in the log at the end. */
  readonly expectedAudit: Set<string>;
};

export type Agent = { readonly id: string; readonly key: string };

export const PASSWORD = 'correct horse battery staple';

export const bobsEmail = (cast: Cast): string => `bob-${cast.run}@example.com`;
export const tenant = (cast: Cast) => ({ 'x-service-tenant': cast.tenantId });
export const as = (cast: Cast, token: string) => ({
  ...tenant(cast),
  authorization: `Bearer ${token}`,
});

export function signIn(cast: Cast, email: string): Promise<Reply> {
  return cast.player.call(
    {
      method: 'POST',
      path: '/api/v1/auth/login',
      headers: tenant(cast),
      body: { email, password: PASSWORD },
    },
    200,
    ['user_id', 'email_verified', 'mfa_required'],
  );
}

export const claims = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
