/** Every endpoint through nginx, in front of the processes of a cluster. */
import type { Cluster } from '@cardea/cluster';
import { isInternal } from '@cardea/http';
import { type RestDriver, restDriver, type WebhookSink, webhookSink } from '@cardea/testing';
import { product } from '../../scripts/gateway/files.ts';
import { testCallers } from '../security/callers.ts';
import { catalogueOf, successOf } from '../security/catalogue.ts';
import { type Fortress, houseOf } from '../security/fortress.ts';
import { send, titleOf } from '../security/sample.ts';
import { usersOf } from '../security/users.ts';

/** The parts of a world that the samples use; callers who are refused are not tested here. */
type World = Pick<Fortress, 'rest' | 'a' | 'b' | 'receiver' | 'newEmail' | 'signUp' | 'addUser'>;

/** Returns what is wrong with the answers of all endpoints, a sentence each. */
export async function wrongAnswers(cluster: Cluster): Promise<readonly string[]> {
  const receiver = await webhookSink();
  try {
    return await wrongAnswersWith(cluster, receiver);
  } finally {
    await receiver.close();
  }
}

async function wrongAnswersWith(
  cluster: Cluster,
  receiver: WebhookSink,
): Promise<readonly string[]> {
  const { services } = await product();
  const owners = new Map(
    services.flatMap(({ service, endpoints }) =>
      endpoints.map(({ contract }) => [contract.name, service] as const),
    ),
  );
  const endpoints = services.flatMap((each) => each.endpoints);
  const { gateway, mailbox } = cluster.addresses();
  const rest = withMail(restDriver({ baseUrl: gateway, endpoints }), mailbox);
  const world = await worldAt(rest, receiver);
  const wrong: string[] = [];
  const callers = testCallers(world);
  for (const entry of catalogueOf({ host: { endpoints } as unknown as Fortress['host'] })) {
    const { endpoint, sample } = entry;
    if (isInternal(endpoint.contract)) continue;
    const owner = owners.get(endpoint.contract.name);
    if (endpoint.contract.audience === 'page') {
      // The key of the pages' cookie is the cluster's own. Visitors who are not signed in are answered by the same
      // service.
      const { headers } = await send(world, endpoint, { params: { id: 'none' } }, {});
      const by = headers.get('x-served-by');
      if (by !== owner) wrong.push(`${titleOf(endpoint)}: by ${by}, not ${owner}`);
      continue;
    }
    const as = callers.find(({ name }) => name === sample.by);
    const ask = await sample.ask(world);
    const answer = await send(world, endpoint, ask, { as, tenant: world.a.tenantId });
    const by = answer.headers.get('x-served-by');
    // Nobody here is a system administrator: no request gives that role.
    const expected = as === undefined ? 401 : successOf(entry);
    if (answer.status !== expected) {
      wrong.push(`${titleOf(endpoint)}: ${answer.status} ${answer.text}`);
    }
    if (by !== owner) wrong.push(`${titleOf(endpoint)}: by ${by}, not ${owner}`);
  }
  return wrong;
}

/** The mailbox is a separate server, which the gateway does not expose. */
function withMail(rest: RestDriver, mailbox: string): RestDriver {
  const mail = restDriver({ baseUrl: mailbox });
  return {
    ...rest,
    get: (path, call) => (path === '/dev/mailbox' ? mail : rest).get(path, call),
  };
}

async function worldAt(rest: Fortress['rest'], receiver: WebhookSink): Promise<Fortress> {
  const users = usersOf(rest);
  const a = await houseOf({ rest }, users, await users.signUp('Acme'));
  const b = await houseOf({ rest }, users, await users.signUp('Bolt'));
  const world: World = { rest, a, b, receiver, ...users };
  return {
    ...world,
    expired: '',
    revoked: a.member,
    systemAdmin: undefined,
  } as unknown as Fortress;
}
