/** Tells a relay to publish events of its log again, for readers that lost them. */
import { SERVICE_NAMES, topicOf } from '@cardea/contracts';
import { askForReplay } from '@cardea/event-bus';
import { type Command, done, textOf } from '../command.ts';
import { WrongUsage } from '../failures.ts';

const LOOK_MS = 250;
/** A running relay starts at once. A standby relay takes over within seconds. */
const BEGIN_MS_MAX = 20_000;

export const relayReplay: Command = {
  name: 'relay replay',
  summary:
    'Publishes again what was published from a position on, under the same ids: our own consumers skip it.',
  example: 'relay replay --topic cardea.authz.events.v1 --from 1200',
  options: {
    topic: { type: 'string', value: 'NAME', help: 'topic that receives them' },
    from: { type: 'string', value: 'POSITION', help: 'position of the first event in its log' },
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
    const { database } = deployment.shared();
    const { clock } = deployment.parts()[0]?.needs ?? {};
    if (clock === undefined) throw new Error('a deployment without services');
    const replay = await askForReplay(database, { log, from: BigInt(from) });
    const through = String(replay.through);
    const end = (ok: boolean, text: string) => ({
      ...done([text]),
      ok,
      json: { topic, from, through },
    });
    for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
      const position = await replay.progress();
      if (position !== undefined && position >= replay.through) {
        return end(true, `Published again up to position ${through}.`);
      }
      if (position === undefined && waitedMs >= BEGIN_MS_MAX) {
        return end(false, `No relay of ${log} runs: it publishes again when it is started.`);
      }
      if (call.signal.aborted) return end(false, `The relay goes on up to position ${through}.`);
      if (position !== undefined) call.tell(`at ${position}`, { position: String(position) });
      await clock.sleep(LOOK_MS, call.signal);
    }
  },
};
