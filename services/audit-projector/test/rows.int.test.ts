/** What a row contains of an event's metadata, and what happens when an event arrives again. */
import { auditService } from '@cardea/audit-projector';
import { BOOTSTRAP_TENANT_ID } from '@cardea/contracts';
import { type ServiceFixture, serviceFixture, testDatabase, untilTrue } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const database = testDatabase();
let fixture: ServiceFixture;
const logged: string[] = [];
beforeAll(async () => {
  fixture = await serviceFixture({
    databaseUrl: database.url,
    definitions: [auditService],
    onLog: (line) => logged.push(line),
  });
});
afterAll(async () => {
  await fixture?.stop();
});

const PATH = '/api/v1/audit/events';
const adminOf = (tenantId: string) =>
  fixture.rest.as({
    bearer: fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] }),
    tenant: tenantId,
  });

describe('an audit row', () => {
  it('audit 8 sounds an alarm when an id comes a second time and says anything else', async () => {
    const tenantId = 'tenant-twice';
    const rest = adminOf(tenantId);
    const alarms = async (): Promise<number> => {
      const text = await (await fetch(`${fixture.managementUrl}/metrics`)).text();
      return Number(/^cardea_audit_integrity_alarm (\d+)$/m.exec(text)?.[1]);
    };
    const before = await alarms();
    const event = await fixture.publish({
      source: 'identity',
      type: 'session.revoked',
      tenantId,
      streamId: 'session-s1',
      data: { id: 's1', user_id: 'u1', reason: 'user' },
    });
    const list = async () => (await rest.get(PATH)).body.events;
    await untilTrue(async () => (await list()).length === 1);
    const { position: _, ...again } = event;
    await fixture.publish(again);
    await list();
    expect(await alarms()).toBe(before);
    await fixture.publish({ ...again, data: { ...event.data, reason: 'reuse' } });
    await untilTrue(async () => (await alarms()) === before + 1, { what: 'the alarm' });
    const [row] = await list();
    expect(row).toMatchObject({ id: event.id, type: 'session.revoked' });
    expect(logged.filter((line) => line.includes(event.id))).toHaveLength(1);
  });

  it('audit 3 shows what happens to the deployment in the log of the first tenant', async () => {
    await fixture.publish({
      source: 'identity',
      type: 'signing_key.activated',
      tenantId: 'deployment',
      streamId: 'keyring-main',
      data: { kid: 'k1' },
    });
    const bearer = fixture.tokens.user({
      tenantId: BOOTSTRAP_TENANT_ID,
      id: 'root',
      roles: ['system_admin', 'admin'],
    });
    const { body } = await fixture.rest.get(PATH, { bearer, tenant: BOOTSTRAP_TENANT_ID });
    expect(body.events).toMatchObject([
      { type: 'keys.activated', tenant_id: BOOTSTRAP_TENANT_ID, target_id: 'k1' },
    ]);
  });

  it('audit 3 names the application of the token, and marks one that the caller claims', async () => {
    const tenantId = 'tenant-apps';
    const refused = async (appId: string | undefined, header: string | undefined) => {
      const id = `member-${appId}-${header}`;
      const bearer = fixture.tokens.user({
        tenantId,
        id,
        claims: appId === undefined ? {} : { app_id: appId },
      });
      const headers = header === undefined ? {} : { 'x-service-app-id': header };
      expect((await fixture.rest.get(PATH, { bearer, tenant: tenantId, headers })).status).toBe(
        403,
      );
      const admin = fixture.tokens.user({ tenantId, id: 'admin', roles: ['admin'] });
      const [row] = await untilTrue(async () => {
        const query = { type: 'admin.denied', actor_id: id };
        const { body } = await fixture.rest.get(PATH, { bearer: admin, tenant: tenantId, query });
        return body.count === 1 ? body.events : undefined;
      });
      return [row.app_id, row.details.app_claimed];
    };
    expect(await refused('web', 'other')).toEqual(['web', undefined]);
    expect(await refused('web', undefined)).toEqual(['web', undefined]);
    expect(await refused(undefined, 'other')).toEqual(['other', true]);
    expect(await refused(undefined, undefined)).toEqual([null, undefined]);
  });
});
