import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { checkAnswer } from './contract-check.ts';
import { type EndpointValue, findEndpoint } from './endpoint-match.ts';

const door: EndpointValue = {
  contract: {
    name: 'get_door',
    method: 'get',
    path: '/doors/{id}',
    ok: Type.Object({ id: Type.String() }),
    refusals: { door_locked: 409 },
    response: { codes: { unauthenticated: 'INVALID_KEY' } },
  },
};
const own: EndpointValue = { contract: { ...door.contract, name: 'own', path: '/doors/own' } };

const answer = (
  status: number,
  body: { error?: { code: string; message?: string; request_id?: string }; id?: unknown },
) => ({
  status,
  headers: new Headers(),
  text: JSON.stringify(body),
  body,
  code: body.error?.code,
});
const refusal = (status: number, code: string) =>
  answer(status, { error: { code, message: 'No.', request_id: 'r' } });
const check = (given: ReturnType<typeof answer>) => () => checkAnswer(door, 'GET /doors/1', given);

describe('the REST driver', () => {
  it('takes answers and refusals that the contract names', () => {
    check(answer(200, { id: '1' }))();
    check(refusal(409, 'door_locked'))();
    check(refusal(404, 'not_found'))();
    check(refusal(401, 'INVALID_KEY'))();
  });

  it('fails on a body of another shape', () => {
    expect(check(answer(200, { id: 1 }))).toThrow('does not fit');
    expect(check(answer(409, { error: { code: 'door_locked' } }))).toThrow('does not fit');
  });

  it('fails on a status or a code that the contract does not name', () => {
    expect(check(answer(201, { id: '1' }))).toThrow('201');
    expect(check(refusal(409, 'door_stuck'))).toThrow('door_stuck');
    expect(check(refusal(403, 'door_locked'))).toThrow('403');
    expect(check(refusal(401, 'unauthenticated'))).toThrow('unauthenticated');
  });

  it('prefers the endpoint that names the path literally', () => {
    expect(findEndpoint([door, own], 'GET', '/doors/own')).toBe(own);
    expect(findEndpoint([door, own], 'GET', '/doors/7')).toBe(door);
    expect(findEndpoint([door, own], 'POST', '/doors/7')).toBeUndefined();
    expect(findEndpoint([door, own], 'GET', '/doors/')).toBeUndefined();
  });
});
