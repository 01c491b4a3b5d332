/** Tests what a response reveals of the servers: only that nginx is in front. */
import { describe, expect, it } from 'vitest';
import { askRaw, rawly, readAnswer } from '../raw-http.ts';
import { edgeFixture } from './gateway-fixture.ts';

/** Debian's nginx cannot hide its name without an extra module; it does hide its version. */
const NAME = 'nginx';
const TELLING = /^(x-powered-by|via|x-aspnet.*|x-runtime|x-generator|x-upstream.*)$/;
const fixture = edgeFixture();

describe('S20 an answer through the gateway', () => {
  it.each([
    ['of a service', '/api/v1/auth/me', 200],
    ['of nobody', '/api/v1/nothing', 404],
    ['for a service that is away', '/api/v1/vault/services', 502],
    ['that is a file of its own', '/openapi.json', 200],
  ])('%s names no version and no framework', async (_whose, path, status) => {
    const answer = await askRaw(fixture.gateway.port, path);
    expect(answer.status).toBe(status);
    expect(answer.headers['server']).toBe(NAME);
    expect(Object.keys(answer.headers).filter((name) => TELLING.test(name))).toEqual([]);
    if (status >= 400) expect(answer.body).not.toMatch(/nginx|<html/i);
  });

  it('to bytes that are no request names none either', async () => {
    const answer = readAnswer(await rawly(fixture.gateway.port, 'NONSENSE\r\n\r\n'));
    expect(answer.status).toBe(400);
    expect(answer.headers['server']).toBe(NAME);
    expect(answer.body).not.toMatch(/nginx|<html/i);
  });
});
