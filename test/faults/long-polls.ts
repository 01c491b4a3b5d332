/** Many long polls at once, by users who may have ten open each. */
import { type RestAnswer, type RestDriver, untilTrue } from '@cardea/testing';
import type { Company, TestCluster } from '../cluster-fixture.ts';

const POLLS_PER_PERSON = 10;
const TTL_SECONDS = 600;
/** Each waits 30 s at most, so all have to be open before that. */
const OPEN_MS_MAX = 25_000;
const HEARD_MS_MAX = 120_000;

export type OpenPolls = {
  /** The response to each poll. */
  answers(): Promise<readonly RestAnswer[]>;
};

/** Resolves when all polls wait, at whichever replica the gateway chose. */
export async function openPolls(
  { rest, cluster }: TestCluster,
  {
    admin,
    count,
    name = 'poller',
  }: { readonly admin: Company; readonly count: number; readonly name?: string },
): Promise<OpenPolls> {
  const asAdmin = rest.as(admin);
  const agent = await asAdmin.post('/api/v1/agents', { name: `asker-of-${name}` });
  const users: Person[] = [];
  // One after another, because a burst of password hashes is refused on machines with few cores.
  for (let index = 0; index < count / POLLS_PER_PERSON; index += 1) {
    const of = { asAdmin, rest, agentId: agent.body.id, tenant: admin.tenant };
    users.push(await person({ ...of, name: `${name}-${index}` }));
  }
  const polls = Array.from({ length: count }, (_, index) => {
    const { driver, path } = users[index % users.length] as Person;
    return driver.get(path);
  });
  const answers = Promise.all(polls);
  // Handled where it is awaited, unless something else fails first.
  answers.catch(() => undefined);
  const open = async (): Promise<number> => {
    const counts = cluster.of('approval').map(async ({ management }) => {
      const text = await (await fetch(`${management}/metrics`)).text();
      return Number(/^cardea_long_polls_open (\d+)$/m.exec(text)?.[1] ?? 0);
    });
    return (await Promise.all(counts)).reduce((sum, each) => sum + each, 0);
  };
  await untilTrue(async () => (await open()) === count, {
    deadlineMs: OPEN_MS_MAX,
    what: `${count} polls wait`,
  });
  return { answers: () => answers };
}

type Person = { readonly driver: RestDriver; readonly path: string };

async function person(of: {
  readonly asAdmin: RestDriver;
  readonly rest: RestDriver;
  readonly agentId: string;
  readonly name: string;
  readonly tenant: string;
}): Promise<Person> {
  const email = `${of.name}@example.com`;
  const password = 'a password for the tests';
  const registered = await of.rest.post(
    '/api/v1/auth/register',
    { email, password, display_name: of.name },
    { tenant: of.tenant },
  );
  if (registered.status !== 201) throw new Error(`registering answered ${registered.status}`);
  const { user_id, access_token: bearer } = registered.body;
  const ask = {
    agent_id: of.agentId,
    user_id,
    action: 'write_data',
    ttl_seconds: TTL_SECONDS,
  };
  // Identity's events about the user and the agent reach approval a moment after identity's answer.
  const made = await untilTrue(
    async () => {
      const answer = await of.asAdmin.post('/api/v1/ciba/requests', ask);
      if (answer.status !== 201) throw new Error(`${answer.status} ${answer.code}`);
      return answer;
    },
    { deadlineMs: HEARD_MS_MAX, what: 'approval has heard of person and agent' },
  );
  const driver = of.rest.as({ bearer, tenant: of.tenant });
  return { driver, path: `/api/v1/ciba/requests/${made.body.id}/poll` };
}
