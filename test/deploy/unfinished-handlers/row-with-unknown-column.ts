import { projection } from '@cardea/read-models';
import { type LampEvent, lamps } from './lamp.ts';

export const shown = projection<LampEvent>()({
  name: 'lamps',
  log: 'vault',
  tables: [lamps],
  on: {
    LampHung: ({ data }) => [lamps.put({ ...data, lit_at: null, colour: 'red' })],
    LampLit: ({ data: { id, at } }) => [lamps.patch({ id }, { lit_at: at })],
  },
});
