/** Receives the logout notices of many applications: one server, which answers after a delay or at once. */
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { untilTrue } from '@cardea/testing';
import type { BenchContext } from '../harness.ts';

/** Less than the 5 s after which a notice is given up. */
const SLOW_MS = 4_000;
/** A failed notice is sent again after 5 s, then after 30 s. */
const ALL_MS_MAX = 90_000;

export type LogoutReceivers = {
  readonly uri: string;
  /** Answers each notice after 4 s from now on, and forgets earlier ones. */
  readonly slow: () => void;
  /** The number of notices received since `slow` was called. */
  readonly came: () => number;
  /** Answers all notices that wait or arrive. Resolves to the given applications that got no notice. */
  readonly drain: (clientIds: readonly string[]) => Promise<readonly string[]>;
};

export async function logoutReceivers({ onEnd }: BenchContext): Promise<LogoutReceivers> {
  const answered = new Set<string>();
  const waiting = new Set<ServerResponse>();
  let isSlow = false;
  let came = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const aud = audienceOf(form.get('logout_token') ?? '');
    came += 1;
    response.on('finish', () => answered.add(aud));
    response.on('close', () => waiting.delete(response));
    waiting.add(response);
    if (isSlow) await pause(SLOW_MS);
    if (!response.writableEnded) response.writeHead(204).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onEnd(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as { readonly port: number };
  return {
    uri: `http://127.0.0.1:${port}/logout`,
    slow: () => {
      isSlow = true;
      came = 0;
      answered.clear();
    },
    came: () => came,
    drain: async (clientIds) => {
      isSlow = false;
      for (const response of waiting) response.writeHead(204).end();
      const missing = () => clientIds.filter((id) => !answered.has(id));
      const all = { what: 'every notice', deadlineMs: ALL_MS_MAX };
      await untilTrue(() => missing().length === 0, all).catch(() => undefined);
      return missing();
    },
  };
}

const audienceOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).aud;
