import { projection } from '@cardea/read-models';
import { type LampEvent, lamps } from './lamp.ts';

export const shown = projection<LampEvent>()({
  name: 'lamps',
  log: 'vault',
  tables: [lamps],
  on: {
    LampHung: ({ data: { id } }) => [lamps.put({ id, watts: 'sixty', lit_at: null })],
    LampLit: ({ data: { id } }) => [lamps.patch({ id }, { watts: null })],
  },
});
