import { uuidV5 } from '@cardea/runtime';
import { expect, it } from 'vitest';
import { BOOTSTRAP_IDS, NAMESPACE } from './bootstrap.ts';

it('the first administrator keeps the tenant that earlier releases derived', () => {
  expect(BOOTSTRAP_IDS.tenantId).toBe(uuidV5(NAMESPACE, 'tenant'));
});
