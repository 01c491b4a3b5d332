import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpFixture, startHttpFixture } from './http-fixture.ts';
import { whatRows } from './pipeline-input-rows.ts';
import { whoRows } from './pipeline-rows.ts';

let fixture: HttpFixture;
beforeAll(async () => {
  fixture = await startHttpFixture();
});
afterAll(() => fixture.stop());

describe('the request pipeline', () => {
  it.each([...whoRows, ...whatRows])('S6 answers $status $code to $name', async (row) => {
    const { method = 'POST', path = '/api/v1/notes', call, status, code } = row;
    const answer = await fixture.call(method, path, call);
    expect({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code });
    if (code !== undefined) {
      expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
      expect(Object.keys(answer.body)).toEqual(['error']);
    }
  });

  it('hands what it found before the body to the handler of the request', async () => {
    const vend = (headers: { readonly [name: string]: string }) =>
      fixture.call('POST', '/api/v1/vend/s1', { as: 'agk-key', json: { fields: ['a'] }, headers });
    expect((await vend({ 'x-service-token': 'cap' })).body).toEqual({
      seen: { body: { fields: ['a'] }, capability: 'cap' },
    });
    expect((await vend({ 'x-service-token': 'other' })).status).toBe(401);
  });
});
