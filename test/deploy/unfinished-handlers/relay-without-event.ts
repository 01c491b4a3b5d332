import { relay } from '@cardea/event-bus';
import type { LampEvent, lampEvents } from './lamp.ts';

export const told = relay<LampEvent, typeof lampEvents>({
  LampHung: ({ data: { id } }) => ({ type: 'lamp.hung', data: { id } }),
});
