import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import {
  type ServiceFixture,
  testDatabase,
  untilTrue,
  type WebhookSink,
  webhookSink,
} from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminOf, makeWebhook, ROOT, startWebhookFixture, userCreated } from './webhook-fixture.ts';

const database = testDatabase();
let fixture: ServiceFixture;
let sink: WebhookSink;
let resetting: Server;
beforeAll(async () => {
  sink = await webhookSink();
  resetting = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
  await new Promise<void>((resolve) => resetting.listen(0, '127.0.0.1', resolve));
  fixture = await startWebhookFixture({ databaseUrl: database.url });
});
afterAll(async () => {
  await fixture?.stop();
  await sink?.close();
  resetting?.close();
});

const DELIVERIES = `${ROOT}/deliveries`;
const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function tested(tenantId: string, url: string) {
  const admin = adminOf(fixture, tenantId);
  const { id } = await makeWebhook(admin, url);
  await admin.post(`${ROOT}/${id}/test`);
  const [row] = (await admin.get(DELIVERIES, { query: { detail: true } })).body.deliveries;
  return row;
}

describe('receivers that fail', () => {
  it('webhooks 6 names what went wrong where no answer came', async () => {
    const closed = await webhookSink();
    await closed.close();
    for (const [name, url, error] of [
      ['closed', closed.url, 'connect_error'],
      ['resetting', `http://127.0.0.1:${portOf(resetting)}/`, 'reset'],
      ['bad-tls', `https://127.0.0.1:${new URL(sink.url).port}/`, 'tls_error'],
      // The label is too long for a DNS query, so no name server is involved.
      ['unknown-name', `https://${'x'.repeat(64)}.invalid/`, 'dns_error'],
    ] as const) {
      expect(await tested(name, url)).toMatchObject({ status_code: 0, success: false, error });
    }
  });

  it('webhooks 6 takes a redirect for a failure, and never dials its target', async () => {
    const headers = { location: `${sink.url}/target` };
    sink.answerWith(({ path }) => (path === '/from' ? { status: 302, headers } : { status: 200 }));
    expect(await tested('redirecting', `${sink.url}/from`)).toMatchObject({
      status_code: 302,
      success: false,
    });
    expect(sink.received.map(({ path }) => path)).not.toContain('/target');
  });

  it('R12 a receiver that hangs delays no other', async () => {
    const admin = adminOf(fixture, 'hanging');
    sink.answerWith(({ path }) =>
      path === '/hanging' ? new Promise(() => undefined) : { status: 200 },
    );
    await makeWebhook(admin, `${sink.url}/hanging`);
    // The URL has another origin, because connections to one origin are shared.
    const port = new URL(sink.url).port;
    await makeWebhook(admin, `http://localhost:${port}/healthy`);
    for (let at = 0; at < 30; at++) await fixture.publish(userCreated('hanging'));
    const came = (of: string) => sink.received.filter(({ path }) => path === of).length;
    // One webhook has at most eight deliveries under way. Others start when the first are given up.
    let mostBefore = 0;
    await untilTrue(() => {
      if (came('/healthy') < 30) mostBefore = came('/hanging');
      return came('/healthy') === 30 && came('/hanging') >= 8;
    });
    expect(mostBefore).toBeLessThanOrEqual(8);
  });

  it('webhooks 19 once a user is deleted, no body of theirs can be read or sent again', async () => {
    const admin = adminOf(fixture, 'leaving');
    sink.answerWith(() => ({ status: 200 }));
    await makeWebhook(admin, `${sink.url}/leaving`, ['user.created', 'user.deleted']);
    const created = userCreated('leaving', { id: 'leaver' });
    await fixture.publish(created);
    await sink.waitFor(({ path }) => path === '/leaving');
    const data = { id: 'leaver', deleted_at: '2030-01-02T00:00:00.000Z' };
    const { source, tenantId, streamId } = created;
    await fixture.publish({ source, tenantId, streamId, type: 'user.deleted', data });
    const told = await sink.waitFor(
      ({ path, body }) => path === '/leaving' && body.includes('user.deleted'),
    );
    expect(JSON.parse(told.body).data).toEqual(data);
    const query = { event: 'user.created' };
    const row = await untilTrue(
      async () => (await admin.get(DELIVERIES, { query })).body.deliveries[0],
    );
    // Reads the tables, because each retry that is too early adds a delivery to wait for. It waits for the key, since
    // the receiver may be notified before the deletion is recorded, and for the note, which is removed when none of our
    // processes uses the key.
    const { system } = fixture.shared.database;
    const erased = `SELECT FROM webhooks.subject_keys WHERE subject_id = 'user:leaver' AND wrapped IS NULL
      AND NOT EXISTS (SELECT FROM webhooks.erasures)`;
    await untilTrue(async () => (await system.query(erased)).rowCount === 1, {
      deadlineMs: 60_000,
      what: 'the bodies of the deleted user are erased',
    });
    const { status, code } = await admin.post(`${DELIVERIES}/${row.id}/retry`);
    expect([status, code]).toEqual([422, 'payload_erased']);
  });
});
