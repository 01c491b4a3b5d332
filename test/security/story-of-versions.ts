/** Versions of a secret of the vault, for the search for canaries: written, promoted, read back, destroyed. */
import type { RestAnswer, RestDriver } from '@cardea/testing';
import { expect } from 'vitest';
import { expectStatus } from './users.ts';

const PENDING_VALUE = 'canary-Pw58-of-a-pending-value-in-the-vault';
const BILLING = '/api/v1/vault/services/billing';

type Canaries = {
  readonly remember: (name: string, value: string) => void;
  readonly refused: (answer: RestAnswer, status: number) => void;
};

export async function storyOfVersions(
  admin: RestDriver,
  { remember, refused }: Canaries,
): Promise<void> {
  const pending = { fields: { api_key: PENDING_VALUE }, stage: 'pending' };
  expectStatus(await admin.put(`${BILLING}/secrets`, pending), 200);
  remember('pending vault value', PENDING_VALUE);
  refused(await admin.post(`${BILLING}/promote`, { versions: { [PENDING_VALUE]: 1 } }), 400);
  expectStatus(await admin.post(`${BILLING}/promote`, { versions: { api_key: 2 } }), 200);
  expectStatus(await admin.post(`${BILLING}/rollback`, { fields: ['api_key'] }), 200);
  expectStatus(await admin.patch(BILLING, { reveal: true }), 200);
  const reveal = `${BILLING}/secrets/api_key/reveal`;
  const revealed = await admin.post(reveal, { reason: 'to search for it', version: 2 });
  expect(revealed.body.value).toBe(PENDING_VALUE);
  refused(await admin.post(reveal, { reason: 'to search for it', version: 9 }), 404);
  expectStatus(await admin.delete(`${BILLING}/secrets/api_key/versions/2`), 200);
}
