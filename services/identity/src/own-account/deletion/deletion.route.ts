/** A person schedules the deletion of their account, reads its day, and cancels it. */
import { documented, NullableTime, Time } from '@cardea/contracts';
import { endpoint } from '@cardea/http';
import type { ServiceDependencies } from '@cardea/service';
import Type from 'typebox';
import {
  cancelDeletion,
  type DecideDependencies,
  decideOnUser,
  emailAddress,
  exists,
  scheduleDeletion,
  type ToAscii,
  type UserDirectory,
  users,
} from '../../accounts/accounts.module.ts';
import { badField, closed } from '../../http/answers.ts';
import { countAliveSessions, ownSession } from '../../sessions/sessions.module.ts';
import { TENANT_DEFAULTS, type Workspaces } from '../../workspaces/workspaces.module.ts';

export type DeletionDependencies = DecideDependencies &
  Pick<ServiceDependencies, 'command' | 'database'> & {
    readonly userDirectory: Pick<UserDirectory, 'byId' | 'emailOf'>;
    readonly workspaces: Pick<Workspaces, 'tenant'>;
    readonly toAscii: ToAscii;
  };

const ownEmailField = documented(Type.String(), {
  format: 'email',
  maxLength: 254,
  examples: ['ann@example.com'],
});

export const deletionRoutes = (deps: DeletionDependencies) => ({
  scheduleDeletion: scheduleDeletionRoute(deps),
  getDeletion: showDeletionRoute(deps),
  cancelDeletion: cancelDeletionRoute(deps),
});

const scheduleDeletionRoute = (deps: DeletionDependencies) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/deletion',
      who: ['user'],
      tenant: 'optional',
      name: 'schedule_deletion',
      access: { class: 'settings', stepUp: 'users' },
      repeat: 'safe',
      summary: 'Delete my account',
      description:
        'Has the account deleted after the days of the tenant setting `account_deletion`; `confirm` is its own address. At once its other sessions, its agent sessions and its delegations end; nothing else changes until the day. Mails tell of it at once, 3 days before and at the end. The last administrator makes somebody else an administrator first.',
      method: 'post',
      body: closed({ confirm: ownEmailField }),
      ok: closed({ delete_at: Time }),
      response: { status: 202 },
      refusals: {
        invalid_request: 400,
        deletion_disabled: 403,
        not_found: 404,
        last_admin: 409,
      },
      consistency: { waitsFor: ['users', 'sessions', 'revocations'] },
    },
    async (request) => {
      const { principal, body } = request;
      const { id: userId, tenantId } = principal;
      const [tenant, user] = await Promise.all([
        deps.workspaces.tenant(tenantId),
        deps.userDirectory.byId(tenantId, userId),
      ]);
      const { settings } = tenant ?? { settings: TENANT_DEFAULTS };
      const { allowed, wait_days: waitDays } = settings.account_deletion;
      if (!allowed) return { refused: 'deletion_disabled' };
      if (!exists(user)) return { refused: 'not_found' };
      const own = await deps.userDirectory.emailOf(user);
      if (own === null || emailAddress(body.confirm, deps.toAscii) !== own) {
        return badField('confirm', 'own address');
      }
      const command = await deps.command(request);
      const { now } = command;
      const session = await ownSession(deps.streams, principal, now);
      const of = { tenantId, userId };
      const { all } = await countAliveSessions(deps.database, { ...of, now });
      const schedule = { waitDays, session, count: all - (session === null ? 0 : 1), now };
      const decided = await decideOnUser(deps, of, command, ({ mayLeave }, state) =>
        scheduleDeletion({ ...schedule, mayLeave }, state),
      );
      if (!decided.done) return { refused: decided.reason };
      const { state, position } = decided;
      const deleteAt = exists(state) ? (state.deleteAt ?? null) : null;
      if (deleteAt === null) return { refused: 'not_found' };
      return { ok: { delete_at: deleteAt }, wrote: position };
    },
  );

const showDeletionRoute = (deps: Pick<DeletionDependencies, 'userDirectory' | 'workspaces'>) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/deletion',
      who: ['user'],
      tenant: 'optional',
      name: 'get_deletion',
      access: { class: 'things', applicationScope: 'account' },
      summary: 'Whether and when my account is deleted',
      description:
        'Shows the day on which the account is deleted, and whether the tenant lets people delete theirs.',
      method: 'get',
      ok: closed({
        delete_at: NullableTime,
        allowed: Type.Boolean(),
        wait_days: Type.Integer(),
      }),
      refusals: {},
    },
    async ({ principal: { id, tenantId } }) => {
      const [tenant, user] = await Promise.all([
        deps.workspaces.tenant(tenantId),
        deps.userDirectory.byId(tenantId, id),
      ]);
      const { settings } = tenant ?? { settings: TENANT_DEFAULTS };
      const delete_at = exists(user) ? (user.deleteAt ?? null) : null;
      return { ok: { delete_at, ...settings.account_deletion } };
    },
  );

const cancelDeletionRoute = (deps: Pick<DeletionDependencies, 'command' | 'streams'>) =>
  endpoint(
    {
      tag: 'Self-service',
      path: '/api/v1/user/deletion',
      who: ['user'],
      tenant: 'optional',
      name: 'cancel_deletion',
      access: { class: 'settings', stepUp: 'none' },
      repeat: 'safe',
      summary: 'Keep my account',
      description: 'Takes the deletion of the account back, if one waits.',
      method: 'delete',
      ok: closed({ status: Type.Literal('deletion cancelled') }),
      refusals: {},
    },
    async (request) => {
      const command = await deps.command(request);
      const decided = await deps.streams.decideOn(users, request.principal.id, command, (user) =>
        cancelDeletion({ by: 'user', now: command.now }, user),
      );
      return { ok: { status: 'deletion cancelled' as const }, wrote: decided.position };
    },
  );
