import { relay } from '@cardea/event-bus';
import type { LampEvent, lampEvents } from './lamp.ts';

export const mapped = relay<LampEvent, typeof lampEvents>({
  LampHung: ({ data: { id } }) => ({ type: 'lamp.hung', data: { id } }),
  LampDusted: ({ data: { id } }) => ({ type: 'lamp.dusted', data: { id } }),
});
