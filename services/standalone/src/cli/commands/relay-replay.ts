/** Publishes events of a log again, for readers that lost them. */
import { kindOf, SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { replayLog } from '@cardea/event-bus';
import { relayOf } from '@cardea/service';
import { type Command, done, textOf } from '../command.ts';
import { WrongUsage } from '../failures.ts';

export const relayReplay: Command = {
  name: 'relay replay',
  summary:
    'Publishes again what was published from a position on, under the same ids: our own consumers skip it.',
  example: 'relay replay --topic cardea.authz.events.v1 --from 1200',
  options: {
    topic: { type: 'string', value: 'NAME', help: 'where to' },
    from: { type: 'string', value: 'POSITION', help: 'of the first event, in its log' },
  },
  run: async (call) => {
    const topic = textOf(call, 'topic');
    const log = SERVICE_NAMES.find((name) => topicOf(name) === topic);
    if (log === undefined) {
      throw new WrongUsage(`--topic is one of ${SERVICE_NAMES.map(topicOf).join(', ')}`);
    }
    const from = textOf(call, 'from') ?? '';
    if (!/^\d{1,18}$/.test(from)) throw new WrongUsage('--from takes a position');
    const deployment = await call.open();
    const { publisher } = deployment.shared();
    const part = deployment.parts().find(({ definition }) => definition.name === log);
    if (part === undefined) throw new Error('a topic without a service');
    const { needs } = part;
    const { published, through } = await replayLog(
      relayOf(part),
      { ...needs, bus: needs.database, schema: log, publisher, kindOf },
      {
        from: BigInt(from),
        signal: call.signal,
        onPage: (position, count) =>
          call.tell(`up to ${position}  ${count} records`, {
            position: String(position),
            published: count,
          }),
      },
    );
    const isWhole = !call.signal.aborted;
    return {
      ...done([
        isWhole
          ? `Published ${published} records again, up to position ${through}.`
          : `Stopped after position ${through}: go on with --from ${through + 1n}.`,
      ]),
      ok: isWhole,
      json: { topic, published, through: String(through) },
    };
  },
};
