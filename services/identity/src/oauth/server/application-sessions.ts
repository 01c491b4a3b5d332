/**
 * Sessions of applications. A session starts when a code is redeemed and is refreshed at the token endpoint. The
 * application or its user can end it, and a second use of the code ends it. Browser sign-ins are ended here, too.
 */
import { type DerivedKeys, isGenuineRefreshToken, parseRefreshToken } from '@cardea/crypto';
import type { Command } from '@cardea/event-store';
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import { exists, type UserDirectory } from '../../accounts/accounts.module.ts';
import {
  endSession,
  factsOf,
  type LoginSessions,
  type RefreshSession,
  type RevocationReason,
  type SessionFacts,
  sessions,
} from '../../sessions/sessions.module.ts';
import type { Workspaces } from '../../workspaces/workspaces.module.ts';
import { isDocumentId } from '../client-documents/client-document.ts';
import { browserSignIns } from './browser-sign-ins.ts';
import type { AnyRequest } from './requests.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'store' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
  readonly workspaces: Pick<Workspaces, 'tenant'>;
  readonly loginSessions: Pick<LoginSessions, 'refreshTokenOf' | 'startOther'>;
  readonly refreshSession: RefreshSession;
  readonly refreshKeys: DerivedKeys;
};

export type StartApplicationSession = {
  readonly sid: string;
  readonly tenantId: string;
  readonly userId: string;
  /** The user's epoch when the code was checked. If that epoch has passed, the session is not alive. */
  readonly userEpoch: number;
  readonly clientId: string;
  readonly consentId: string;
  readonly consentEpoch: number;
  readonly scope: string;
  readonly resource: string;
  readonly authTime: number;
  readonly amr: readonly string[];
  /** The browser sign-in with which the session ends. Null with `offline_access`. */
  readonly browserSid: string | null;
  /** Thumbprint of the key to which its refresh tokens are bound. */
  readonly jkt: string | undefined;
};

export type ApplicationSessions = ReturnType<typeof applicationSessions>;

export function applicationSessions(needs: Dependencies) {
  const { streams, loginSessions } = needs;
  const browsers = browserSignIns(needs);
  const commandOf = (request: AnyRequest, tenantId: string, userId: string) =>
    needs.command(request, { tenantId, actor: { type: 'user', id: userId } });
  const end = async (
    request: AnyRequest,
    of: { readonly tenantId: string; readonly userId: string; readonly sid: string },
    reason: RevocationReason,
  ): Promise<void> => {
    const command = await commandOf(request, of.tenantId, of.userId);
    const own = { ...command, id: uuidFrom(command.id, 'end', of.sid) };
    await streams.decideOn(sessions, of.sid, own, (session) =>
      endSession({ now: command.now, reason }, session),
    );
  };
  const genuine = async (text: string) => {
    const token = parseRefreshToken(text);
    const last = token && (await needs.store.readLast(`session-${token.sid}`));
    if (token === undefined || last === undefined) return undefined;
    const session = last.data as SessionFacts;
    if (!isGenuineRefreshToken(needs.refreshKeys, token, session.salt)) return undefined;
    return session.kind === 'oauth' ? { ...session, tenantId: last.metadata.tenantId } : undefined;
  };
  return {
    end,
    /** The session of a refresh token of any client. */
    genuine,
    endByToken: async (request: AnyRequest, text: string): Promise<void> => {
      const session = await genuine(text);
      if (session === undefined) return;
      const of = { tenantId: session.tenantId, userId: session.user_id, sid: session.id };
      await end(request, of, 'oauth_revoke');
    },
    /** Ends a browser sign-in of any tenant. */
    endBrowser: async (
      request: AnyRequest,
      sid: string,
      reason: 'logout' | 'replaced',
    ): Promise<void> => {
      const browser = await browsers.browserOf(sid);
      if (browser !== undefined) await end(request, { ...browser, sid }, reason);
    },
    /** Returns the refresh token, or undefined if the user, the tenant or the browser sign-in has ended. */
    start: async (request: AnyRequest, of: StartApplicationSession) => {
      const { tenantId, browserSid } = of;
      const command = await commandOf(request, tenantId, of.userId);
      const refreshToken = await startSession(needs, request, of, command);
      if (browserSid === null) return refreshToken;
      // The end of a browser sign-in ends the sessions that exist by then. A session that starts later has to check the
      // sign-in itself.
      const { state } = await streams.load(sessions, { tenantId, id: browserSid });
      if (state.status === 'known' && state.revoked_at === null) return refreshToken;
      await end(request, of, 'browser');
      return undefined;
    },
    /** The session of a genuine refresh token of this client. The token may be expired, used or revoked. */
    ofToken: async (text: string, of: { tenantId: string; clientId: string }) => {
      const token = parseRefreshToken(text);
      if (token === undefined) return undefined;
      const { state } = await streams.load(sessions, { tenantId: of.tenantId, id: token.sid });
      if (state.status === 'none' || state.client_id !== of.clientId) return undefined;
      if (!isGenuineRefreshToken(needs.refreshKeys, token, state.salt)) return undefined;
      return { token, session: factsOf(state) };
    },
    refresh: needs.refreshSession,
    refreshTokenOf: loginSessions.refreshTokenOf,
    ...browsers,
  };
}

async function startSession(
  needs: Dependencies,
  request: AnyRequest,
  of: StartApplicationSession,
  command: Command,
): Promise<string | undefined> {
  const readAt = needs.clock.now();
  const [user, tenant] = await Promise.all([
    needs.userDirectory.byId(of.tenantId, of.userId),
    needs.workspaces.tenant(of.tenantId),
  ]);
  if (!exists(user) || user.status !== 'active' || tenant === undefined) return undefined;
  const made = await needs.loginSessions.startOther(
    {
      sid: of.sid,
      user,
      readAt,
      tenant,
      via: 'oauth',
      method: 'oauth',
      amr: of.amr,
      ...{
        ip: request.ip,
        userAgent: request.userAgent,
        appId: isDocumentId(of.clientId) ? null : of.clientId,
      },
      other: {
        kind: 'oauth',
        browser_sid: of.browserSid,
        authTime: of.authTime,
        userEpoch: of.userEpoch,
        client_id: of.clientId,
        consent_id: of.consentId,
        consent_epoch: of.consentEpoch,
        scope: of.scope,
        resource: of.resource,
        ...(of.jkt === undefined ? {} : { jkt: of.jkt }),
      },
    },
    command,
  );
  return made === 'erased' ? undefined : needs.loginSessions.refreshTokenOf(made.session);
}
