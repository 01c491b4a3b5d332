/** Mails about requests are in the user's language, or in the tenant's if the user chose none. */
import type { Mail } from '@cardea/mail';
import { testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApprovalFixture, approvalFixture, userEvent, wanted } from './approval-fixture.ts';

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

/** Publishes identity's event about a tenant. An older event names no language. */
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

it("is that of the user, and the tenant's where they choose none or none that is written in", async () => {
  const { bot, id } = await fixture.people('languages');
  await tellTenant(id, ['email'], { language: 'en' });
  const tell = async (locale: object) => {
    const display_name = `Ann, after ${mails.length}`;
    const said = { vouched: true, display_name, changed: ['locale'], ...locale };
    await fixture.publish(userEvent(id, 'ann', 'user.updated', said));
    await untilTrue(async () => {
      const { rowCount } = await fixture.host
        .needsOf('approval')
        .database.system.query(
          'SELECT FROM approval.users WHERE tenant_id = $1 AND display_name = $2',
          [id, display_name],
        );
      return rowCount === 1;
    });
    return (await mailAbout(bot, `turn ${mails.length}`)).subject;
  };
  const [english, german] = [
    'Approval requested by Deploy Bot',
    'Deploy Bot bittet um eine Freigabe',
  ];
  expect(await tell({ locale: 'de-AT' })).toBe(german);
  // Older events do not contain the field.
  expect(await tell({})).toBe(german);
  expect(await tell({ locale: 'fr' })).toBe(english);
  await tellTenant(id, ['email', 'webhook'], { language: 'de' });
  expect(await tell({ locale: null })).toBe(german);
});
