import { ignored } from '@cardea/event-store';
import { policy } from '@cardea/service';
import type { LampEvent } from './lamp.ts';

export const dusted = policy<LampEvent>()({
  name: 'dust',
  on: { LampHung: ignored('it is clean'), LampLit: ignored('light shows no dust') },
});
