/** What other modules keep on behalf of a user, and what becomes of it with the account. */
import type { ExistingUser } from './users/user.ts';

export type AliveSessions = (of: {
  readonly tenantId: string;
  readonly userId: string;
  readonly now: Date;
}) => Promise<readonly { readonly id: string }[]>;

type At = { readonly tenantId: string; readonly position: bigint | undefined };

/** Refuses the tokens of agent sessions everywhere; a policy ends the sessions themselves a moment later. */
export type AgentSessionRevocation = {
  /** The user's epoch has risen. */
  readonly ofUser: (user: ExistingUser, at: At) => Promise<void>;
  /** One login session has ended. */
  readonly ofLogin: (sid: string, at: At) => Promise<void>;
};
