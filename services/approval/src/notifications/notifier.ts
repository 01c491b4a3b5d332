/**
 * Mails users about requests, and about blocks after wrong binding codes. It never delays or fails a request, and sends
 * no mail about a closed one.
 */
import type { ApproverSet } from '@cardea/contracts';
import { type MailText, type MailTransport, outboxLoop } from '@cardea/mail';
import { metrics, type WakeSignal } from '@cardea/runtime';
import type { Loop, ServiceDependencies, SetHolders } from '@cardea/service';
import type { DeputyNotice } from '../deputies/deputies.module.ts';
import {
  type Changes,
  type Counters,
  escalationOf,
  type IdentityFacts,
  isFirstRequest,
  type MailLook,
  type Pending,
  pageOfDeputy,
  pageOfRequests,
  type RequestEvent,
  readRequest,
  requests,
  SET_MAILS_MAX,
  streamOf,
} from '../requests/requests.module.ts';
import { mailOfDeputy } from './deputy-mail.ts';
import { batchedWith, dueJobs, finish, fold, type Job, putOff, spread } from './jobs.ts';
import { MAILS_PER_MINUTE_MAX, MINUTE_MS, NOTICE_TTL_MS, NOTIFY_AGAIN_MS } from './limits.ts';
import { notified } from './notified.ts';
import { mailOfBlock, mailOfRequest, mailOfSeveral } from './request-mail.ts';

type NotifierDependencies = Pick<
  ServiceDependencies,
  'streams' | 'database' | 'sealer' | 'clock' | 'log' | 'settings' | 'systemCommand'
> & {
  readonly identityFacts: IdentityFacts;
  readonly counters: Counters;
  readonly changes: Changes;
  readonly setHolders: SetHolders;
  /** Undefined if mail cannot be sent at all. */
  readonly mail: MailTransport | undefined;
};

/** Call `newJobs.wake` when there are new notifications to send. */
export const notifier = (needs: NotifierDependencies, newJobs: WakeSignal): Loop =>
  outboxLoop<Job>(
    {
      name: 'approval.notifications',
      due: ({ now, until }, limit) => dueJobs(needs.database, [now, until, limit]),
      dueAt: ({ run_at }) => run_at,
      tenantOf: ({ tenant_id }) => tenant_id,
      keyOf: ({ tenant_id, request_id, channel }) => `${tenant_id} ${request_id} ${channel}`,
      // One user's jobs run one after another, so that the limit counts each. Jobs of different users run in parallel.
      lineOf: ({ tenant_id, user_id }) => `${tenant_id} ${user_id}`,
      send: (job) => notify(needs, job),
      retryAfterMs: NOTIFY_AGAIN_MS,
      putOff: async (job, next) => {
        count(job, 'failed');
        await putOff(needs.database, job, next);
      },
    },
    { ...needs, signal: newJobs },
  );

/** Counts each mail once, even if it is about several requests or could not be sent. */
const count = (job: Job, outcome: string): void =>
  metrics.notices.inc({ kind: kindOf(job), outcome });

function kindOf({ blocked_until, deputyship }: Job): string {
  if (blocked_until !== null) return 'codes_blocked';
  return deputyship === null ? 'approval_request' : 'deputy';
}

async function notify(needs: NotifierDependencies, job: Job): Promise<void> {
  const { database, identityFacts, clock, mail } = needs;
  const { blocked_until: until, deputyship } = job;
  if (until !== null)
    return sendNotice(needs, job, { at: until, mail: (to) => mailOfBlock(until, to) });
  if (deputyship !== null) return notifyOfDeputy(needs, job, deputyship);
  const request = await pendingOf(needs, job);
  if (request === undefined) {
    await finish(database, job);
    return;
  }
  if (job.channel !== 'email') return settleUnsent(needs, job, 'unsupported');
  if (mail === undefined) return settleUnsent(needs, job, 'not_configured');
  const set = setOf(job, request);
  if (set !== undefined) return tellHolders(needs, job, { request, set });
  const user = await identityFacts.user(job.tenant_id, job.user_id);
  if (user === undefined || user.email === '') throw new AddressUnknown();
  if (job.state === 'folded') return sendFolded(needs, job, { mail, to: user.email });
  const overMs = await overMailLimitMs(needs, job);
  if (overMs !== undefined) {
    await fold(database, job, new Date(clock.now().getTime() + overMs));
    return;
  }
  await mail.send({ to: user.email, ...(await mailOf(needs, job, request)) });
  count(job, 'sent');
  await settle(needs, job, sent(job));
}

/** The set that a job notifies, at first or by an escalation. Undefined if the job notifies one person. */
function setOf({ user_id: to }: Job, { facts }: Pending): ApproverSet | undefined {
  if (to === facts.user_id) return facts.approver;
  const escalation = escalationOf(facts);
  if (escalation?.to !== to || 'user_id' in escalation.approver) return undefined;
  return escalation.approver;
}

/** Each person who could decide at this moment gets a mail. */
async function tellHolders(
  needs: NotifierDependencies,
  job: Job,
  { request, set }: { readonly request: Pending; readonly set: ApproverSet },
): Promise<void> {
  const { exclude_session_user: excludes, session_user_id: sessionUser } = request.facts;
  const excludedUserId = excludes === true ? sessionUser : undefined;
  const found = await needs.setHolders.of({
    tenantId: job.tenant_id,
    set,
    needed: 1,
    excludedUserId,
  });
  if ('noApprover' in found) return settleUnsent(needs, job, found.noApprover);
  await spread(needs.database, job, found.holders.slice(0, SET_MAILS_MAX));
}

/** The time in ms until the user may get mail again. Undefined if the next mail may be sent now. */
const overMailLimitMs = ({ counters }: NotifierDependencies, job: Job) =>
  counters.over(`mail:${job.tenant_id}:${job.user_id}`, MAILS_PER_MINUTE_MAX, MINUTE_MS);

async function notifyOfDeputy(
  needs: NotifierDependencies,
  job: Job,
  notice: DeputyNotice,
): Promise<void> {
  const { tenant_id: tenantId } = job;
  const name = await needs.identityFacts.nameOrAddress(tenantId, notice.other);
  const page =
    notice.to === 'person'
      ? pageOfDeputy(needs.settings, tenantId)
      : pageOfRequests(needs.settings, tenantId);
  const mail = (look: MailLook) => mailOfDeputy(notice, { name, page, look });
  return sendNotice(needs, job, { at: new Date(notice.at), mail });
}

/**
 * Nobody can switch these notices off. If the user is over the limit, a notice waits. It is not combined with mails
 * about requests.
 */
async function sendNotice(
  needs: NotifierDependencies,
  job: Job,
  notice: { readonly at: Date; readonly mail: (look: MailLook) => MailText },
): Promise<void> {
  const { database, identityFacts, clock, mail } = needs;
  const isOutdated = clock.now().getTime() - notice.at.getTime() > NOTICE_TTL_MS;
  if (isOutdated || mail === undefined) return void (await finish(database, job));
  const user = await identityFacts.user(job.tenant_id, job.user_id);
  if (user === undefined || user.email === '') throw new AddressUnknown();
  const overMs = await overMailLimitMs(needs, job);
  if (overMs !== undefined) {
    const at = new Date(clock.now().getTime() + overMs);
    await putOff(database, job, { attempts: job.attempts, at });
    return;
  }
  const look = await identityFacts.mailLook(job.tenant_id, job.user_id);
  await mail.send({ to: user.email, ...notice.mail(look) });
  count(job, 'sent');
  await finish(database, job);
}

/** The user's row has not arrived yet or has no address. The job is retried like any other failure. */
class AddressUnknown extends Error {
  override readonly name = 'AddressUnknown';
}

async function sendFolded(
  needs: NotifierDependencies,
  job: Job,
  { mail, to }: { readonly mail: MailTransport; readonly to: string },
): Promise<void> {
  const folded = await batchedWith(needs.database, job);
  const open: Job[] = [];
  for (const one of folded) {
    if ((await pendingOf(needs, one)) === undefined) await finish(needs.database, one);
    else open.push(one);
  }
  if (open.length === 0) return;
  const look = await needs.identityFacts.mailLook(job.tenant_id, job.user_id);
  await mail.send({
    to,
    ...mailOfSeveral(open.length, look, pageOfRequests(needs.settings, job.tenant_id)),
  });
  count(job, 'sent');
  for (const one of open) await settle(needs, one, sent(one));
}

async function pendingOf(needs: NotifierDependencies, job: Job): Promise<Pending | undefined> {
  const request = await readRequest(needs, job.tenant_id, job.request_id);
  return request.status === 'pending' ? request : undefined;
}

const sent = ({ channel }: Job): RequestEvent => ({ type: 'NotificationSent', data: { channel } });

async function settleUnsent(needs: NotifierDependencies, job: Job, cause: string): Promise<void> {
  const { channel } = job;
  await settle(needs, job, { type: 'NotificationFailed', data: { channel, cause } });
  count(job, cause);
}

async function settle(
  { streams, systemCommand, database }: NotifierDependencies,
  job: Job,
  event: RequestEvent,
): Promise<void> {
  const { tenant_id: tenantId, request_id: id, channel } = job;
  const command = systemCommand(tenantId, 'notified', channel, id);
  await streams.decideOn(requests, id, command, (request) => notified(event, request));
  await finish(database, job);
}

/** The fields of a request for access, each with its service. */
const fieldsOf = ({ access }: Pending['facts']): readonly string[] =>
  (access?.services ?? []).flatMap(({ service_name, fields }) =>
    fields.map((name) => `${service_name}.${name}`),
  );

async function mailOf(
  { sealer, database, identityFacts, settings }: NotifierDependencies,
  { user_id: userId }: Job,
  { facts, escalated }: Pending,
): Promise<MailText> {
  const { binding } = facts;
  const streamId = streamOf(facts.id);
  const showsCode = binding !== undefined && !binding.number_match;
  const { deputy_for: absentId } = facts;
  const [reason, purpose, code, isFirst, look, absent] = await Promise.all([
    facts.reason === undefined ? null : sealer.open(facts.reason, { streamId, field: 'reason' }),
    facts.purpose === undefined ? null : sealer.open(facts.purpose, { streamId, field: 'purpose' }),
    showsCode ? sealer.open(binding.code, { streamId, field: 'code' }) : null,
    isFirstRequest(database.system, facts),
    identityFacts.mailLook(facts.tenant_id, userId),
    absentId === undefined ? undefined : identityFacts.nameOrAddress(facts.tenant_id, absentId),
  ]);
  return mailOfRequest({
    agentName: facts.agent_name,
    isFirst,
    isEscalated: escalated === true,
    absent,
    action: facts.action,
    resource: facts.resource,
    fields: binding?.fields ?? fieldsOf(facts),
    severity: facts.severity,
    expiresAt: facts.expires_at,
    grantTtlSeconds: binding?.grant_ttl_seconds,
    purpose,
    reason,
    origin: facts.origin,
    code,
    look,
    page: pageOfRequests(settings, facts.tenant_id, facts.id),
  });
}
