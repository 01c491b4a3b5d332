/** Browser sign-ins as the authorization server uses them: the account of each, and the clients it serves. */
import { uuidFrom } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import type { UserDirectory } from '../../accounts/accounts.module.ts';
import {
  continueBrowser,
  isAlive,
  type SessionFacts,
  serveClient,
  sessions,
  validityContextOf,
} from '../../sessions/sessions.module.ts';
import type { AnyRequest } from './requests.ts';

type Dependencies = Pick<ServiceDependencies, 'clock' | 'command' | 'store' | 'streams'> & {
  readonly userDirectory: Pick<UserDirectory, 'byId'>;
};

export function browserSignIns(needs: Dependencies) {
  const { streams, store, userDirectory, clock } = needs;
  const commandOf = async (
    request: AnyRequest,
    of: { readonly tenantId: string; readonly userId: string },
    ...idParts: readonly string[]
  ) => {
    const actor = { type: 'user', id: of.userId } as const;
    const command = await needs.command(request, { tenantId: of.tenantId, actor });
    return { ...command, id: uuidFrom(command.id, ...idParts) };
  };
  /** The account and tenant of a browser sign-in, even of one that has ended. */
  const browserOf = async (sid: string) => {
    const last = await store.readLast(`session-${sid}`);
    const session = last?.data as SessionFacts | undefined;
    return last === undefined || session?.kind !== 'browser'
      ? undefined
      : { tenantId: last.metadata.tenantId, userId: session.user_id };
  };
  /** Whether the browser sign-in has not ended. */
  const isBrowserAlive = async (tenantId: string, userId: string, sid: string) => {
    const [{ state }, user] = await Promise.all([
      streams.load(sessions, { tenantId, id: sid }),
      userDirectory.byId(tenantId, userId),
    ]);
    if (state.status === 'none' || state.user_id !== userId) return false;
    return isAlive(state, validityContextOf(user, true), clock.now());
  };
  return {
    browserOf,
    isBrowserAlive,
    /** The same person signed in again in the same browser. */
    continueBrowser: async (request: AnyRequest, sid: string, earlier: string): Promise<void> => {
      const browser = await browserOf(sid);
      if (browser === undefined) return;
      const command = await commandOf(request, browser, 'continue', sid);
      await streams.decideOn(sessions, sid, command, (session) =>
        continueBrowser(earlier, session),
      );
    },
    /** Records a client that gets tokens without its own session. Returns false if the sign-in has ended. */
    serve: async (
      request: AnyRequest,
      of: {
        readonly tenantId: string;
        readonly userId: string;
        readonly clientId: string;
        readonly browserSid: string;
      },
    ): Promise<boolean> => {
      const { tenantId, userId, clientId, browserSid: sid } = of;
      const command = await commandOf(request, of, 'serve', sid);
      const decided = await streams.decideOn(sessions, sid, command, (session) =>
        serveClient(clientId, session),
      );
      // An end of all sessions that was decided concurrently did not include this client yet.
      return decided.accepted && (await isBrowserAlive(tenantId, userId, sid));
    },
  };
}
