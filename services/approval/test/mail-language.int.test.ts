/** Mails about requests have the language that identity says the tenant's mails have. */
import type { Mail } from '@cardea/mail';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, wanted } from './approval-fixture.ts';

const database = testDatabase();
let fixture: ApprovalFixture;
const mails: Mail[] = [];
beforeAll(async () => {
  const mail = { send: async (sent: Mail) => void mails.push(sent), close: () => {} };
  fixture = await approvalFixture(database.url, { mail });
});
afterAll(async () => {
  await fixture?.stop();
});

/** Identity's event about a tenant; one of before names no language. */
async function tellTenant(id: string, channels: readonly string[], said: object): Promise<void> {
  await fixture.publish({
    source: 'identity',
    type: 'tenant.updated',
    tenantId: id,
    streamId: `tenant-${id}`,
    data: {
      ...{ id, organization_id: 'org', name: id, slug: id, display_name: id },
      ...{ environment: 'production', approval_channels: channels, ...said },
      ...{ created_at: '2026-01-01T00:00:00.000Z', changed: ['settings'] },
    },
  });
  await untilTrue(async () => {
    const { rows } = await fixture.host
      .needsOf('approval')
      .database.system.query<{ channels: readonly string[] }>(
        'SELECT channels FROM approval.tenants WHERE tenant_id = $1',
        [id],
      );
    return rows[0]?.channels.join() === channels.join();
  });
}

async function mailAbout(bot: ApprovalFixture['rest'], reason: string): Promise<Mail> {
  await bot.post('/api/v1/ciba/requests', wanted({ reason }));
  return await untilTrue(() => mails.find(({ text }) => text.includes(reason)));
}

it('is German where the tenant is, and stays so after an event that names no language', async () => {
  const { bot, id } = await fixture.people('deutsch');
  await tellTenant(id, ['email'], { language: 'de' });
  expect((await mailAbout(bot, 'first reason')).subject).toBe('Deploy Bot bittet um eine Freigabe');
  await tellTenant(id, ['email', 'webhook'], {});
  expect((await mailAbout(bot, 'second reason')).subject).toBe(
    'Deploy Bot bittet um eine Freigabe',
  );
});

it('is English where nothing is written in the language', async () => {
  const { bot, id } = await fixture.people('francais');
  await tellTenant(id, ['email'], { language: 'fr' });
  expect((await mailAbout(bot, 'third reason')).subject).toBe('Approval requested by Deploy Bot');
});
