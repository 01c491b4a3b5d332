import type { IntegrationEvent } from '@cardea/contracts';
import { expect, test } from 'vitest';
import { eventIn, recordOf } from './cloud-event.ts';

const whole: IntegrationEvent = {
  id: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3e',
  type: 'user.created',
  source: 'identity',
  time: '2031-05-04T03:02:01.007Z',
  tenantId: 'acme',
  streamId: 'user-1',
  position: '17',
  part: 1,
  released: true,
  logEpoch: '0198c9a2-7d3b-7c55-9d4e-2f6a8b1c0d3f',
  schemaVersion: 2,
  actor: { type: 'admin', id: 'ann' },
  correlationId: 'c-1',
  causationId: 'b-1',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  data: {
    name: 'Zoë',
    context: { ip: null, user_agent: null, app_id: null, agent_id: null, request_id: null },
  },
};

const { part, released, logEpoch, correlationId, causationId, traceparent, ...least } = whole;

test('an event is a CloudEvent in binary mode: attributes as headers, data as the value', () => {
  const { key, headers, value } = recordOf(whole);
  expect(key).toBe('acme:user-1');
  expect(JSON.parse(value.toString())).toEqual(whole.data);
  expect(headers).toEqual({
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: whole.id,
    ce_type: 'user.created',
    ce_source: 'identity',
    ce_subject: 'user-1',
    ce_time: whole.time,
    ce_tenantid: 'acme',
    ce_position: '17',
    ce_schemaversion: '2',
    ce_actortype: 'admin',
    ce_actorid: 'ann',
    ce_part: '1',
    ce_released: 'true',
    ce_logepoch: whole.logEpoch,
    ce_correlationid: 'c-1',
    ce_causationid: 'b-1',
    ce_traceparent: whole.traceparent,
  });
});

test.each([
  ['with all that an envelope may have', whole],
  ['with the least', least],
])('an event %s is read back as it was', (_, event) => {
  const { headers, value } = recordOf(event);
  const asSent = Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, text]) => [name, Buffer.from(String(text))]),
  );
  expect(eventIn({ headers: asSent, value })).toEqual(event);
});

test.each([
  ['without a value', null, null],
  ['that is no JSON', 'hello', 'hello'],
  ['of somebody else', '{"hello":"world"}', { hello: 'world' }],
])('a record %s is brought as it is', (_, text, found) => {
  expect(eventIn({ value: text === null ? null : Buffer.from(text) })).toEqual(found);
});
