import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { whatRows } from './door-input-rows.ts';
import { whoRows } from './door-rows.ts';
import { type Rig, startRig } from './rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.stop());

describe('the door', () => {
  it.each([...whoRows, ...whatRows])('S6 answers $status $code to $name', async (row) => {
    const { method = 'POST', path = '/api/v1/notes', call, status, code } = row;
    const answer = await rig.call(method, path, call);
    expect({ status: answer.status, code: answer.body?.error?.code }).toEqual({ status, code });
    if (code !== undefined) {
      expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
      expect(Object.keys(answer.body)).toEqual(['error']);
    }
  });
});
