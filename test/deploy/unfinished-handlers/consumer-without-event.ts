import { consumer } from '@cardea/event-bus';
import { lampEvents } from './lamp.ts';

export const heard = consumer({
  name: 'watch',
  from: [lampEvents],
  on: { 'lamp.lit': { prepare: async () => {} } },
});
