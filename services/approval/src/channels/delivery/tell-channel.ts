/** Sends one message to one channel: a test, one request, or a summary if many requests wait. */
import { readApproverSet } from '@cardea/contracts';
import { accept } from '@cardea/event-store';
import type { Outbound } from '@cardea/http';
import type { Language } from '@cardea/mail';
import { metrics } from '@cardea/runtime';
import type { ServiceDependencies } from '@cardea/service';
import {
  type Changes,
  escalationOf,
  type IdentityFacts,
  pageOfRequests,
  type RequestEvent,
  readRequest,
  requests,
  WAITING_PER_CHANNEL_MAX,
} from '../../requests/requests.module.ts';
import { channels, kindOf } from '../channel.ts';
import {
  type ChannelKey,
  type ChannelTarget,
  channelTarget,
  countAttempt,
  dropJobs,
  failuresOf,
  finishJobs,
  recordAttempt,
  TEST_JOB,
  waitingJobs,
} from '../channel-queue.ts';
import { CHANNEL_AGAIN_MS, CHANNEL_SPACING_MS, WAITING_SINGLY_MAX } from '../limits.ts';
import {
  type ChannelMessage,
  messageOfRequest,
  messageOfSeveral,
  messageOfTest,
} from './channel-message.ts';
import { CHANNEL_TEXTS } from './channel-texts.ts';
import { type Outcome, outcomeOf, requestTo } from './formats/formats.ts';

export type TellDependencies = Pick<
  ServiceDependencies,
  'streams' | 'database' | 'sealer' | 'clock' | 'log' | 'settings' | 'systemCommand'
> & {
  readonly identityFacts: IdentityFacts;
  readonly changes: Changes;
  readonly outbound: Pick<Outbound, 'send'>;
};

/** The outcomes by their names in the metric of notices. */
const COUNTED_AS: { readonly [kind in Outcome['kind']]: string } = {
  taken: 'sent',
  rejected: 'rejected',
  later: 'failed',
};

/** A message to send, and the jobs that it settles. */
type Telling = { readonly message: ChannelMessage; readonly jobs: readonly string[] };

/** Never throws. The failure of one channel does not affect others. */
export async function tellChannel(
  dependencies: TellDependencies,
  channel: ChannelKey,
  signal: AbortSignal,
): Promise<void> {
  const { log } = dependencies;
  const logged = { tenant_id: channel.tenantId, channel_id: channel.id };
  try {
    await tell(dependencies, channel, signal);
  } catch (error) {
    log.warn(
      { ...logged, error: error instanceof Error ? error.name : 'unknown' },
      'channel failed',
    );
    // If the database is unavailable, the queue is unchanged and is read again.
    await putOff(dependencies, channel, 'internal').catch(() => {});
  }
}

async function tell(
  dependencies: TellDependencies,
  channel: ChannelKey,
  signal: AbortSignal,
): Promise<void> {
  const { database } = dependencies;
  const target = await channelTarget(database, channel);
  if (target === undefined) return void (await dropJobs(database, channel));
  const telling = await nextTelling(dependencies, channel, target);
  if (telling === undefined) return;
  const credentials = await credentialsOf(dependencies, channel, target);
  // The key was erased with the person. The channel is deleted next.
  if (credentials === undefined) return void (await dropJobs(database, channel));
  const answer = await dependencies.outbound.send(
    requestTo(target.format, telling.message, credentials),
  );
  // A message that the shutdown interrupted is tried again by the next process.
  if (signal.aborted && answer.status === 0) return;
  await settle(dependencies, channel, { target, telling, outcome: outcomeOf(answer) });
}

/** Drops jobs that need no message any more. Returns undefined if none is left. */
async function nextTelling(
  dependencies: TellDependencies,
  channel: ChannelKey,
  target: ChannelTarget,
): Promise<Telling | undefined> {
  const { database, clock, identityFacts, settings } = dependencies;
  const jobs = await waitingJobs(database, channel, clock.now());
  const { language } = await identityFacts.mailLook(channel.tenantId);
  const list = { language, page: pageOfRequests(settings, channel.tenantId) };
  if (jobs[0]?.request_id === TEST_JOB) {
    return { message: messageOfTest(target.name, list), jobs: [TEST_JOB] };
  }
  const isVoid = ({ open }: { readonly open: boolean }) => !open || !target.enabled;
  const over = jobs.filter(isVoid).map(({ request_id }) => request_id);
  if (over.length > 0) await finishJobs(database, channel, over);
  const open = jobs.filter((job) => !isVoid(job)).map(({ request_id }) => request_id);
  if (open.length > WAITING_SINGLY_MAX) {
    const isFull = jobs.length === WAITING_PER_CHANNEL_MAX;
    const count = `${open.length}${isFull ? '+' : ''}`;
    return { message: messageOfSeveral(count, list), jobs: open };
  }
  for (const id of open) {
    const request = await readRequest(dependencies, channel.tenantId, id);
    if (request.status === 'pending') {
      const { facts } = request;
      const named = (addressee: string) =>
        nameOf(dependencies, channel.tenantId, addressee, language);
      const escalation = request.escalated === true ? escalationOf(facts) : undefined;
      const [person, second] = await Promise.all([
        named(facts.user_id),
        escalation === undefined ? undefined : named(escalation.to),
      ]);
      const page = pageOfRequests(settings, channel.tenantId, id);
      const message = messageOfRequest(facts, { language, person, second, page });
      return { message, jobs: [id] };
    }
    await finishJobs(database, channel, [id]);
  }
  return undefined;
}

/** A set is named by its text. A person is never named by their address, because other people read the chat, too. */
async function nameOf(
  { identityFacts }: Pick<TellDependencies, 'identityFacts'>,
  tenantId: string,
  addressee: string,
  language: Language,
): Promise<string> {
  if (readApproverSet(addressee) !== undefined) return addressee;
  return (await identityFacts.name(tenantId, addressee)) ?? CHANNEL_TEXTS[language].nameless;
}

async function credentialsOf(
  { sealer }: TellDependencies,
  { id }: ChannelKey,
  target: ChannelTarget,
) {
  const streamId = `${channels.noun}-${id}`;
  const [url, token] = await Promise.all([
    sealer.open(target.url, { streamId, field: 'url' }),
    target.token === null ? null : sealer.open(target.token, { streamId, field: 'token' }),
  ]);
  return url === null ? undefined : { url, token };
}

async function settle(
  dependencies: TellDependencies,
  channel: ChannelKey,
  of: {
    readonly target: ChannelTarget;
    readonly telling: Telling;
    readonly outcome: Outcome;
  },
): Promise<void> {
  const { database, clock } = dependencies;
  const { target, telling, outcome } = of;
  const isTest = telling.jobs[0] === TEST_JOB;
  metrics.notices.inc({
    kind: `approval_${kindOf(target.format)}`,
    outcome: COUNTED_AS[outcome.kind],
  });
  if (outcome.kind === 'later') {
    // A person waits for the outcome of a test message, so it is not tried again.
    if (isTest) await finishJobs(database, channel, telling.jobs);
    else await countAttempt(database, channel, telling.jobs);
    return putOff(dependencies, channel, outcome.error, outcome.afterMs);
  }
  const now = clock.now();
  const error = outcome.kind === 'rejected' ? outcome.error : null;
  const nextAt = new Date(now.getTime() + CHANNEL_SPACING_MS);
  if (!isTest) {
    const kind = kindOf(target.format);
    const of = { channel: kind, channel_id: channel.id };
    const event: RequestEvent =
      error === null
        ? { type: 'NotificationSent', data: of }
        : { type: 'NotificationFailed', data: { ...of, cause: 'rejected' } };
    for (const id of telling.jobs) await record(dependencies, channel, id, event);
  }
  await finishJobs(database, channel, telling.jobs);
  await recordAttempt(database, channel, { at: now, nextAt, failures: 0, error });
}

async function record(
  { streams, systemCommand }: TellDependencies,
  channel: ChannelKey,
  requestId: string,
  event: RequestEvent,
): Promise<void> {
  const command = systemCommand(channel.tenantId, 'told', channel.id, requestId);
  await streams.decideOn(requests, requestId, command, (request) =>
    request.status === 'none' ? accept() : accept(event),
  );
}

async function putOff(
  { database, clock }: TellDependencies,
  channel: ChannelKey,
  error: string,
  afterMs?: number,
): Promise<void> {
  const now = clock.now();
  const failures = await failuresOf(database, channel);
  const pauseMs = afterMs ?? CHANNEL_AGAIN_MS[failures] ?? CHANNEL_AGAIN_MS.at(-1) ?? 0;
  await recordAttempt(database, channel, {
    at: now,
    nextAt: new Date(now.getTime() + Math.max(pauseMs, CHANNEL_SPACING_MS)),
    failures: failures + 1,
    error,
  });
}
