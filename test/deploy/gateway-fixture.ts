/** A gateway in front of minimal services, for test files that observe both of its sides. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { product } from '../../scripts/gateway/files.ts';
import { type GatewayRoute, gatewayRoutes } from '../../scripts/gateway/routes.ts';
import { type Gateway, startGateway } from '../../scripts/gateway/start.ts';
import { needNginx } from '../need-nginx.ts';
import type { RawAnswer } from '../raw-http.ts';
import { breakingOff, dying, mute, remembering, type Upstream } from './gateway-upstreams.ts';

export const REQUEST_ID = /^[0-9a-f]{32}$/;
/**
 * The time limit of the gateway for its services, which run in the test's own busy process. The real one exceeds the
 * longest poll.
 */
const READ_WAIT_SECONDS = 4;

export type EdgeFixture = {
  readonly routes: readonly GatewayRoute[];
  readonly gateway: Gateway;
  /** Receives the requests for identity, and for one of two replicas of authz and webhooks. */
  readonly service: Upstream;
  /** The other replica of authz; that of webhooks accepts no connection. */
  readonly dead: Upstream;
  /**
   * Receives the requests for approval. Vault has no replica, and audit closes its connection in the middle of a
   * response.
   */
  readonly silent: Upstream;
  /** Another gateway in front of the same services, which trusts the proxies in `127.0.0.0/8`. */
  readonly behindProxy: Gateway;
};

/**
 * Call it once at the top of a file; read it in hooks and tests. Recorded requests are cleared before each
 * test.
 */
export function edgeFixture(): { readonly [name in keyof EdgeFixture]: EdgeFixture[name] } {
  const command = needNginx();
  const fixture: { -readonly [name in keyof EdgeFixture]?: EdgeFixture[name] } = {};
  let broken: Upstream | undefined;
  beforeAll(async () => {
    if (command === undefined) return;
    fixture.routes = gatewayRoutes(await product());
    [fixture.service, fixture.dead, fixture.silent, broken] = await Promise.all([
      remembering(),
      dying(),
      mute(),
      breakingOff(),
    ]);
    const one = [fixture.service.address];
    const upstreams = {
      identity: one,
      authz: [fixture.dead.address, ...one],
      vault: [],
      approval: [fixture.silent.address],
      webhooks: ['127.0.0.1:1', ...one],
      audit: [broken.address],
    };
    fixture.gateway = await startGateway({
      upstreams,
      workers: 1,
      readWaitSeconds: READ_WAIT_SECONDS,
    });
    fixture.behindProxy = await startGateway({
      upstreams,
      workers: 1,
      trustedProxies: ['127.0.0.0/8'],
    });
  });
  beforeEach(() => {
    for (const each of [fixture.service, fixture.dead, fixture.silent])
      if (each) each.seen.length = 0;
  });
  afterAll(async () => {
    await fixture.gateway?.stop();
    await fixture.behindProxy?.stop();
    for (const each of [fixture.service, fixture.dead, fixture.silent, broken]) await each?.close();
  });
  return fixture as EdgeFixture;
}

/** Returns the faults of an answer that should be the gateway's own refusal. */
export function faultsOf(answer: RawAnswer, status: number, code: string): readonly string[] {
  const { headers } = answer;
  const id = headers['x-request-id'] ?? '';
  const wrong: string[] = [];
  const hold = (fact: boolean, fault: string) => {
    if (!fact) wrong.push(fault);
  };
  hold(answer.status === status, `status ${answer.status}`);
  hold(REQUEST_ID.test(id), 'X-Request-Id');
  hold(headers['x-served-by'] === 'gateway', 'X-Served-By');
  hold(headers['content-type'] === 'application/json; charset=utf-8', 'Content-Type');
  hold(headers['x-content-type-options'] === 'nosniff', 'nosniff');
  const body = `{"error":{"code":"${code}","message":"`;
  const details = status === 400 ? ',"details":[{"field":"request","rule":"form"}]' : '';
  hold(
    answer.body.startsWith(body) && answer.body.endsWith(`.","request_id":"${id}"${details}}}`),
    answer.body,
  );
  return wrong;
}
