import { relay } from '@cardea/event-bus';
import { ignored } from '@cardea/event-store';
import type { LampEvent, lampEvents } from './lamp.ts';

export const mapped = relay<LampEvent, typeof lampEvents>({
  LampHung: ignored('it is dark'),
  LampLit: ({ data: { id } }) => ({ type: 'lamp.lit', data: { id } }),
  LampDusted: ({ data: { id } }) => ({ type: 'lamp.dusted', data: { id } }),
});
