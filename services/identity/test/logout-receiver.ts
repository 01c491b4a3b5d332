/** An application's endpoint for logout notices. It verifies each notice with `jose` and responds as the test sets. */
import { createServer } from 'node:http';
import { untilTrue } from '@cardea/testing';
import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose';
import type { OAuthFixture } from './oauth-fixture.ts';

export type Notice = {
  readonly claims: JWTPayload & { readonly sid?: string };
  readonly alg: string;
  /** The token as received. */
  readonly token: string;
  readonly atMs: number;
};

export type LogoutReceiver = {
  readonly uri: string;
  readonly notices: Notice[];
  /** The status of further responses. `hang` sends none. */
  answer: number | 'hang';
  /** Waits for the first notice that matches. */
  readonly notice: (matches: (notice: Notice) => boolean, withinMs?: number) => Promise<Notice>;
  readonly close: () => Promise<void>;
};

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const WITHIN_MS = 2_000;

export async function logoutReceiver(
  fixture: () => Pick<OAuthFixture, 'issuer' | 'rest'>,
): Promise<LogoutReceiver> {
  const notices: Notice[] = [];
  const verified = async (token: string): Promise<Notice> => {
    const { body } = await fixture().rest.get('/oauth2/jwks');
    const options = { issuer: fixture().issuer, typ: 'logout+jwt', requiredClaims: ['jti', 'aud'] };
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(body), options);
    const isLogout = JSON.stringify(payload['events']) === JSON.stringify({ [EVENT]: {} });
    if (!isLogout || 'nonce' in payload) throw new Error('no logout token');
    return { claims: payload, alg: protectedHeader.alg, token, atMs: performance.now() };
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (request.method !== 'POST' || [...form.keys()].join() !== 'logout_token') {
      response.writeHead(500).end();
      return;
    }
    notices.push(await verified(form.get('logout_token') ?? ''));
    const { answer } = receiver;
    if (answer === 'hang') return;
    response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  const receiver: LogoutReceiver = {
    uri: `http://127.0.0.1:${port}/backchannel-logout`,
    notices,
    answer: 200,
    notice: (matches, withinMs = WITHIN_MS) =>
      untilTrue(async () => notices.find(matches), { what: 'a notice', deadlineMs: withinMs }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return receiver;
}
