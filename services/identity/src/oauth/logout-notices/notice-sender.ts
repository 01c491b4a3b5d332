/**
 * Sends notices that are due. Every replica does so and claims what it sends. If a replica dies between sending and
 * recording, another one sends the notice again; receivers end a session only once.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Streams } from '@cardea/event-store';
import type { Outbound, OutboundAnswer } from '@cardea/http';
import type { Database } from '@cardea/read-models';
import {
  type Clock,
  errorCode,
  FairShares,
  failpoint,
  type Ids,
  type Logger,
  metrics,
  type Settings,
  type WakeSignal,
} from '@cardea/runtime';
import type { Loop, ServiceDependencies } from '@cardea/service';
import packageJson from '../../../package.json' with { type: 'json' };
import type { SignForClient } from '../../signing-keys/signing-keys.module.ts';
import type { OAuthClients } from '../server/clients.ts';
import { claimNotices } from './claim-notices.ts';
import {
  type LogoutNotice,
  logoutNotices,
  type NoticeAttempt,
  recordNoticeAttempt,
} from './logout-notice.ts';
import { LOGOUT_TOKEN_TYP, logoutClaims } from './logout-token.ts';

/** Concurrent attempts of this process. One busy tenant alone gets at most a quarter of the 16, which is four. */
const PLACES = { places: 16, perFreePlace: 1 / 3 };
/** The time limit of one attempt as a whole. */
export const NOTICE_WAIT_MS = 5_000;
/** The body is ignored; only the status counts. */
export const NOTICE_ANSWER_BYTES_MAX = 1_024;
/** A claimed notice is due again after this time, unless its outcome was recorded. */
const LEASE_MS = 15_000;
/** The maximum age of a notice. An older one tells the application nothing new. */
export const NOTICE_AGE_MAX_MS = 60 * 60_000;
/** The longest pause of the loop. A new notice wakes it earlier, and the next due time is known. */
const REST_MS = 10_000;
/**
 * The pause before due notices that could not be claimed are tried again. The end of an attempt wakes the loop earlier.
 */
const BLOCKED_MS = 1_000;
/** How long attempts under way may continue after the process was asked to stop. */
const DRAIN_MS = NOTICE_WAIT_MS;
const USER_AGENT = `Cardea-Logout/${packageJson.version}`;
const DONE: ReadonlySet<number> = new Set([200, 204]);
const REFUSED = 400;

export type NoticeSenderDependencies = {
  readonly database: Pick<Database, 'system'>;
  readonly streams: Streams;
  readonly clients: Pick<OAuthClients, 'find'>;
  readonly signForClient: SignForClient;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly settings: Pick<Settings, 'ISSUER'>;
  readonly systemCommand: ServiceDependencies['systemCommand'];
};

type Claimed = { readonly id: string; readonly tenantId: string };
type Pending = Extract<LogoutNotice, { status: 'pending' | 'settled' }>;

/** Call `newNotices.wake` when there is a new notice. */
export const noticeSender = (needs: NoticeSenderDependencies, newNotices: WakeSignal): Loop => ({
  name: 'identity.logout_notices',
  run: async (signal, tick) => {
    const places = new FairShares(PLACES);
    const tasks = new Set<Promise<void>>();
    const begin = (claimed: Claimed): void => {
      const leave = places.hold(claimed.tenantId);
      const task = attempt(needs, claimed)
        .catch((error: unknown) => {
          const fields = { notice_id: claimed.id, error: errorCode(error) };
          needs.log.warn(fields, 'an attempt to send a logout notice was not recorded');
        })
        .finally(() => {
          leave();
          tasks.delete(task);
          newNotices.wake();
        });
      tasks.add(task);
    };
    while (!signal.aborted) {
      tick();
      const restMs = await claimInto(needs, places, begin);
      await newNotices.rest(restMs, signal);
    }
    await Promise.race([Promise.allSettled(tasks), pause(DRAIN_MS, null, { ref: false })]);
  },
});

/** Returns the time in ms for which no notice is expected to be due. */
async function claimInto(
  { database, clock }: NoticeSenderDependencies,
  places: FairShares,
  begin: (claimed: Claimed) => void,
): Promise<number> {
  const most = places.free;
  if (most === 0) return BLOCKED_MS;
  const now = clock.now();
  const { claimed, nextAt } = await claimNotices(database, {
    now,
    most,
    leaseUntil: new Date(now.getTime() + LEASE_MS),
    rooms: new Map([...places.holders.keys()].map((id) => [id, places.roomOf(id)])),
    roomElse: places.roomOf(),
  });
  for (const each of claimed) begin(each);
  if (nextAt === undefined) return REST_MS;
  const untilNextMs = nextAt.getTime() - clock.now().getTime();
  return untilNextMs > 0 ? Math.min(untilNextMs, REST_MS) : BLOCKED_MS;
}

async function attempt(needs: NoticeSenderDependencies, { id, tenantId }: Claimed): Promise<void> {
  const { streams, clock, systemCommand } = needs;
  const { state } = await streams.load(logoutNotices, { tenantId, id });
  if (state.status !== 'pending') return;
  const outcome = await outcomeOf(needs, tenantId, state);
  metrics.notices.inc({ kind: 'logout', outcome });
  const n = state.attempts + 1;
  const command = systemCommand(tenantId, 'logout notice', id, String(n));
  await streams.decideOn(logoutNotices, id, command, (notice) =>
    recordNoticeAttempt({ n, outcome, now: clock.now() }, notice),
  );
}

async function outcomeOf(
  needs: NoticeSenderDependencies,
  tenantId: string,
  { subject, queuedAt }: Pending,
): Promise<NoticeAttempt['outcome']> {
  const now = needs.clock.now();
  if (now.getTime() - new Date(queuedAt).getTime() > NOTICE_AGE_MAX_MS) return 'expired';
  const client = await needs.clients.find(subject.client_id);
  const url = client?.application.backchannel_logout_uri ?? null;
  if (client === undefined || url === null) return 'void';
  const issuer = needs.settings.ISSUER;
  const claims = logoutClaims(subject, { issuer, tenantId, id: needs.ids.next(), now });
  const { id_token_signed_response_alg: alg } = client.application;
  const logout_token = needs.signForClient(alg, LOGOUT_TOKEN_TYP, claims);
  const answer = await needs.outbound.send({
    url,
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'User-Agent': USER_AGENT,
    },
    body: new URLSearchParams({ logout_token }).toString(),
  });
  await failpoint('logout.after_send');
  return judged(answer);
}

const judged = ({ status, error }: OutboundAnswer): NoticeAttempt['outcome'] => {
  if (DONE.has(status)) return 'delivered';
  if (status === REFUSED) return 'refused';
  return error ?? 'status';
};
