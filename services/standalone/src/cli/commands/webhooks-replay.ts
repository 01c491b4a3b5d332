/** Sends the deliveries again that a webhook did not accept. */
import { isUuid } from '@cardea/runtime';
import { webhooksOperations } from '@cardea/webhook-dispatcher';
import { type Call, type Command, done, idOf, textOf } from '../command.ts';
import { dependenciesOf } from '../deployment.ts';
import { NotDone, WrongUsage } from '../failures.ts';

/** Matches a date such as `2026-11-23`, optionally with a time of day and its zone. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const REFUSALS = {
  webhook_not_found: 'there is no such webhook',
  webhook_unavailable: 'the webhook is disabled: enable it first',
} as const;

export const webhooksReplay: Command = {
  name: 'webhooks replay',
  summary:
    'Schedules once more, one attempt each, what was given up since a time; what arrived meanwhile is left alone.',
  example:
    'webhooks replay --webhook 0198c2f4-8d5e-7c3a-9f21-6b0c4d1e2f3a --since 2026-11-23T08:00:00Z',
  options: {
    webhook: { type: 'string', value: 'ID', help: 'webhook that receives them' },
    since: { type: 'string', value: 'TIME', help: 'time of the last failed attempt, or later' },
  },
  run: async (call) => {
    const webhookId = idOf(call, 'webhook') ?? '';
    if (!isUuid(webhookId)) throw new WrongUsage('--webhook takes the id of a webhook');
    const since = timeOf(call);
    const webhooks = dependenciesOf(await call.open(), 'webhooks');
    const { signal } = call;
    const replayed = await webhooksOperations(webhooks).replay({ webhookId, since, signal });
    if (typeof replayed === 'string') throw new NotDone(REFUSALS[replayed], replayed);
    const { scheduled, erased } = replayed;
    const lines = [
      `Scheduled ${scheduled} deliveries.`,
      ...(erased === 0 ? [] : [`${erased} cannot be sent: whom they are about was erased.`]),
    ];
    return done(lines, { scheduled, erased });
  },
};

function timeOf(call: Call): Date {
  const given = textOf(call, 'since') ?? '';
  const time = new Date(given);
  if (TIME.test(given) && !Number.isNaN(time.getTime())) return time;
  throw new WrongUsage('--since takes a day or a time with its zone, as 2026-11-23T08:00:00Z');
}
