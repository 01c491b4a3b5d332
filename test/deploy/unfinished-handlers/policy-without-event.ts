import { policy } from '@cardea/service';
import type { LampEvent } from './lamp.ts';

export const watched = policy<LampEvent>()({ name: 'watch', on: { LampLit: async () => {} } });
