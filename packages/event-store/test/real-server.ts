/**
 * The real EventStoreDB: the empty one that TEST_EVENTSTORE_URL names, otherwise one in a container. Without a Docker
 * engine its tests are skipped and listed, unless CARDEA_REQUIRE names it.
 */
import { isRequired, takeVariable } from '@cardea/testing';
import {
  GenericContainer,
  getContainerRuntimeClient,
  type StartedTestContainer,
  Wait,
} from 'testcontainers';
import { afterAll, beforeAll, beforeEach } from 'vitest';

/** The last release line with an open-source licence. */
const IMAGE = 'eventstore/eventstore:24.6';
const PORT = 2113;
const PULL_AND_START_MS = 300_000;
const GIVEN_URL = 'TEST_EVENTSTORE_URL';

/** Call it inside a `describe`. The URL is set when hooks and tests run. */
export function needEventStoreDb(): { readonly url: string } {
  let url = takeVariable(GIVEN_URL);
  let missing: string | undefined;
  let container: StartedTestContainer | undefined;
  beforeAll(async () => {
    if (url !== undefined) return;
    try {
      container = await startContainer();
      url = `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`;
    } catch (error) {
      missing = `no EventStoreDB: ${reasonOf(error)}`;
      if (isRequired('eventstore')) {
        throw new Error(`CARDEA_REQUIRE names eventstore, but ${missing}`);
      }
    }
  }, PULL_AND_START_MS);
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing);
  });
  afterAll(async () => {
    await container?.stop();
  });
  return {
    get url() {
      if (url === undefined) throw new Error('The server is there from beforeAll on.');
      return url;
    },
  };
}

async function startContainer(): Promise<StartedTestContainer> {
  await getContainerRuntimeClient().catch(() => {
    throw new Error('no container engine answers');
  });
  return await new GenericContainer(IMAGE)
    .withEnvironment({
      EVENTSTORE_INSECURE: 'true',
      EVENTSTORE_MEM_DB: 'true',
      EVENTSTORE_RUN_PROJECTIONS: 'None',
      EVENTSTORE_CLUSTER_SIZE: '1',
    })
    .withExposedPorts(PORT)
    .withWaitStrategy(Wait.forHttp('/health/live', PORT).forStatusCode(204))
    .start();
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
