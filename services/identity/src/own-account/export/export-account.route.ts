/** A person exports what identity stores about them, without secrets and without hashes of secrets. */
import { NullableTime, Time } from '@cardea/contracts';
import { accept } from '@cardea/event-store';
import { endpoint } from '@cardea/http';
import type { GeoIp } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  type ExistingUser,
  exists,
  PREVIOUS_EMAIL_MS,
  pendingEmailChange,
  type UserDirectory,
  userExports,
} from '../../accounts/accounts.module.ts';
import {
  AgentShape,
  DelegationShape,
  listAgents,
  listDelegations,
} from '../../agents/agents.module.ts';
import { ConsentShape, shownConsents } from '../../consents/consents.module.ts';
import { SecondFactor, shownFactors } from '../../factors/factors.module.ts';
import { closed, metadataField, profileFields, tooOften } from '../../http/answers.ts';
import { nullable } from '../../http/input-fields.ts';
import { LIMITS } from '../../http/limits.ts';
import { shownProfile } from '../../http/profile-fields.ts';
import { aliveSessions, SessionShape, shownSession } from '../../sessions/sessions.module.ts';

export type ExportDependencies = Pick<
  ServiceDependencies,
  'clock' | 'command' | 'database' | 'limits' | 'sealer' | 'streams'
> & {
  readonly geoIp: GeoIp;
  readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf' | 'metadataOf' | 'open'>;
};

/** The most rows of each kind. */
const ROWS_MAX = 10_000;

const Export = closed({
  exported_at: Time,
  profile: closed({ ...profileFields, public_metadata: metadataField, updated_at: Time }),
  previous_emails: Type.Array(closed({ email: Type.String(), until: Time })),
  email_change: nullable(closed({ email: Type.String(), requested_at: Time })),
  delete_at: NullableTime,
  factors: Type.Array(SecondFactor),
  recovery_codes_remaining: Type.Integer(),
  identities: Type.Array(closed({ provider: Type.String(), linked_at: Time })),
  sessions: Type.Array(SessionShape),
  consents: Type.Array(ConsentShape),
  delegations: Type.Array(DelegationShape),
  agents: Type.Array(AgentShape),
});

export const exportAccountRoute = (deps: ExportDependencies) =>
  endpoint(
    {
      name: 'export_my_account',
      access: { class: 'settings', stepUp: 'none' },
      summary: 'Take along what is kept about me',
      description:
        'Answers what identity keeps about the caller, as one JSON document: profile, metadata, factors, linked accounts, sessions, consents, delegations and agents; no secret, and no hash of one. 5 a day. What the other services keep is at `GET /api/v1/me/decisions`, `/api/v1/me/grants` and `/api/v1/me/activity`.',
      tag: 'Self-service',
      method: 'get',
      path: '/api/v1/user/export',
      who: ['user'],
      tenant: 'optional',
      ok: Export,
      refusals: { forbidden: 403, not_found: 404, rate_limited: 429 },
      consistency: { reads: ['sessions', 'users', 'consents', 'delegations', 'agents'] },
    },
    async (request) => {
      const { tenantId, id, sessionId, impersonatedBy } = request.principal;
      if (impersonatedBy !== null) return { refused: 'forbidden' };
      const user = await deps.userDirectory.byId(tenantId, id);
      if (!exists(user)) return { refused: 'not_found' };
      const taken = await deps.limits.take([LIMITS.accountExportsByUser, `${tenantId}:${id}`]);
      if (!taken.allowed) return tooOften(taken);
      const command = await deps.command(request);
      // The export is recorded before any data is sent.
      const recorded = await deps.streams.decideOn(userExports, command.id, command, () =>
        accept({ type: 'UserSelfExported', data: { id } }),
      );
      const of = { tenantId, user, sessionId };
      return { ok: await exported(deps, of), wrote: recorded.position };
    },
  );

async function exported(
  deps: ExportDependencies,
  of: {
    readonly tenantId: string;
    readonly user: ExistingUser;
    readonly sessionId: string | null;
  },
) {
  const { tenantId, user, sessionId } = of;
  const { database } = deps;
  const now = deps.clock.now();
  const page = { offset: 0, limit: ROWS_MAX };
  const own = { tenantId, userId: user.id, now, ...page };
  const [factors, sessions, consents, delegations, agents, account] = await Promise.all([
    shownFactors(deps, tenantId, user),
    aliveSessions(database, own),
    shownConsents(database, own),
    listDelegations(database, own),
    listAgents(database, { tenantId, ofUser: user.id, now, ...page }),
    accountOf(deps, user, now),
  ]);
  return {
    exported_at: now.toISOString(),
    ...account,
    ...factors,
    identities: user.identities.map(({ provider, linkedAt }) => ({
      provider,
      linked_at: linkedAt,
    })),
    sessions: sessions.map((row) => shownSession(deps, row, sessionId)),
    consents,
    delegations: delegations.rows,
    agents: agents.rows,
  };
}

/** The data of the account itself. */
async function accountOf(
  { userDirectory }: Pick<ExportDependencies, 'userDirectory'>,
  user: ExistingUser,
  now: Date,
) {
  const { id, previousEmails = [], deleteAt = null } = user;
  const change = pendingEmailChange(user, now);
  const emailOf = async (email: ExistingUser['email']) =>
    (await userDirectory.emailOf({ id, email })) ?? '';
  const [opened, { public_metadata }, previous, next] = await Promise.all([
    userDirectory.open(user),
    userDirectory.metadataOf(user),
    Promise.all(
      previousEmails.map(async ({ email, at }) => ({
        email: await emailOf(email),
        until: new Date(new Date(at).getTime() + PREVIOUS_EMAIL_MS).toISOString(),
      })),
    ),
    change && emailOf(change.email),
  ]);
  return {
    profile: {
      id,
      email: opened.email ?? '',
      email_verified: user.emailVerified,
      ...shownProfile(opened),
      roles: [...user.roles],
      created_at: user.createdAt,
      public_metadata,
      updated_at: user.updatedAt,
    },
    previous_emails: previous,
    email_change: change ? { email: next ?? '', requested_at: change.requestedAt } : null,
    delete_at: deleteAt,
  };
}
