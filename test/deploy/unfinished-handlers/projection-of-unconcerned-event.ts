import { projection } from '@cardea/read-models';
import { type LampEvent, lamps } from './lamp.ts';

export const shown = projection<LampEvent>()({
  name: 'lamps',
  log: 'vault',
  tables: [lamps],
  on: {
    LampHung: ({ data }) => [lamps.put({ ...data, lit_at: null })],
    LampLit: ({ data }) => [lamps.patch({ id: data.id }, { lit_at: data.at })],
    LampDusted: () => [],
  },
});
