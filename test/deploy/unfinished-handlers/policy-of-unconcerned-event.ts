import { ignored } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { LampEvent } from './lamp.ts';

export const watched = policy<LampEvent>()({
  name: 'watch',
  on: {
    LampHung: ignored('it is dark'),
    LampLit: async () => {},
    LampDusted: async () => {},
  },
});
