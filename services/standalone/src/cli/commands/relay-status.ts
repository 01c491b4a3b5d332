/** Shows how many events of the logs have not been published to their topics yet. */
import { type Command, done, table } from '../command.ts';
import { relayLag } from '../lag.ts';

export const relayStatus: Command = {
  name: 'relay status',
  summary: 'Shows how far each log has been published.',
  run: async ({ open }) => {
    const { parts } = await open();
    const relays = await Promise.all(parts().map(relayLag));
    const rows = relays.map((one) => [
      one.log,
      `position ${one.position}`,
      `head ${one.head}`,
      `behind ${one.behind}`,
      `oldest ${one.oldest_seconds} s`,
      one.held_back_streams === 0 ? '' : `HELD BACK ${one.held_back_streams}`,
    ]);
    return done(table(rows), { relays });
  },
};
