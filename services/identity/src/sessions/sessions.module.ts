/**
 * Login sessions. A sign-in starts one, refreshes extend it, and its user or the end of its validity context ends it.
 */

import type { SignToken } from '@cardea/auth';
import type { GeoIp } from '@cardea/runtime';
import type { Module, ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../accounts/accounts.module.ts';
import type { MailOutbox } from '../mail/mail.module.ts';
import type { Workspaces } from '../workspaces/workspaces.module.ts';
import { endBrowserSessions } from './end-browser-sessions/end-browser-sessions.policy.ts';
import { endUserSessionsRoute } from './end-user-sessions/end-user-sessions.route.ts';
import { listSessionsRoute } from './list-sessions/list-sessions.route.ts';
import { listUserSessionsRoute } from './list-sessions/list-user-sessions.route.ts';
import {
  type AccessTokens,
  accessTokens,
  type LoginSessions,
  loginSessions,
} from './login-sessions.ts';
import { notifyNewDevice } from './notify-new-device/notify-new-device.policy.ts';
import { refreshRoute } from './refresh/refresh.route.ts';
import { type RefreshSession, refreshSession } from './refresh/refresh-session.ts';
import { endLeastRecentSessions } from './revoke-session/end-least-recent.policy.ts';
import { revokeSessionRoute, revokeSessionsRoute } from './revoke-session/revoke-session.route.ts';
import { revokeUserSessionRoute } from './revoke-session/revoke-user-session.route.ts';
import { sessions } from './session.ts';
import { sessionsProjection } from './sessions.projection.ts';
import { sessionsRelay } from './sessions-relay.ts';
import type { ConsentEpoch } from './validity-context.ts';

export { aliveSessions, countAliveSessions, endedLogins } from './alive-sessions.ts';
export { continueBrowser } from './continue-browser/continue-browser.ts';
export type { AccessTokens, LoginSessions, Tokens } from './login-sessions.ts';
export type { RefreshSession } from './refresh/refresh-session.ts';
export { serveClient } from './serve-client/serve-client.ts';
export {
  endSession,
  factsOf,
  goesOn,
  isAlive,
  type RevocationReason,
  type Session,
  type SessionEvent,
  type SessionFacts,
  type SessionOrigin,
  sessions,
  type ValidityContext,
} from './session.ts';
export { SessionShape, shownSession } from './session-shape.ts';
export { type ConsentEpoch, ownSession, validityContextOf } from './validity-context.ts';

type Dependencies = Pick<
  ServiceDependencies,
  | 'clock'
  | 'command'
  | 'database'
  | 'derive'
  | 'ids'
  | 'limits'
  | 'positions'
  | 'random'
  | 'sealer'
  | 'settings'
  | 'store'
  | 'streams'
  | 'systemCommand'
> & {
  readonly sign: SignToken;
  readonly userDirectory: UserDirectory;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly consentEpoch: ConsentEpoch;
  readonly geoIp: GeoIp;
  readonly mailOutbox: Pick<MailOutbox, 'request'>;
};

export function sessionsModule(given: Dependencies): {
  readonly module: Module;
  readonly accessTokens: AccessTokens;
  readonly loginSessions: LoginSessions;
  readonly refreshSession: RefreshSession;
  readonly selfService: ReturnType<typeof selfService>;
} {
  const withTokens = {
    ...given,
    accessTokens: accessTokens(given),
    refreshKeys: given.derive('JWT_SECRET', 'refresh/v1'),
  };
  const needs = {
    ...withTokens,
    loginSessions: loginSessions(withTokens),
    refreshSession: refreshSession(withTokens),
  };
  const own = selfService(needs);
  const module: Module = {
    endpoints: [
      refreshRoute(needs),
      ...Object.values(own),
      endUserSessionsRoute(needs),
      listUserSessionsRoute(needs),
      revokeUserSessionRoute(needs),
    ],
    projections: [sessionsProjection],
    policies: [notifyNewDevice(needs), endLeastRecentSessions(needs), endBrowserSessions(needs)],
    relay: sessionsRelay,
  };
  const { accessTokens: access, loginSessions: logins, refreshSession: refreshing } = needs;
  return {
    module,
    accessTokens: access,
    loginSessions: logins,
    refreshSession: refreshing,
    selfService: own,
  };
}

/** Operations for the pages of a person's own account. */
const selfService = (
  needs: Parameters<typeof listSessionsRoute>[0] & Parameters<typeof revokeSessionRoute>[0],
) => ({
  listSessions: listSessionsRoute(needs),
  revokeSession: revokeSessionRoute(needs),
  revokeSessions: revokeSessionsRoute(needs),
});

export const sessionsStreams = [sessions];
