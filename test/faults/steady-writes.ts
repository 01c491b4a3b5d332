/**
 * Repeatable writes, at every service that has some: a creation is sent again under its key until it is
 * answered; a PUT or DELETE is sent once, because the gateway repeats it by itself, unless its service says when to
 * send it again.
 */
import { randomUUID } from 'node:crypto';
import { type RestAnswer, type RestDriver, untilTrue } from '@cardea/testing';
import { expect } from 'vitest';
import { repeatWhenBusy } from './repeat-when-busy.ts';

const PAUSE_MS = 100;
const ANSWER_MS_MAX = 20_000;
/** Time for one creation, with all its repeats. */
const MADE_MS_MAX = 60_000;
const REPEAT_PAUSE_MS = 50;
/** The gateway's answers for a service that it could not reach or that broke off. */
const BROKE_OFF: ReadonlySet<number> = new Set([502, 503, 504]);
/** One of this many things is kept. */
const KEEP_EVERY = 5;
const PAGE = 1000;

type Kind = {
  readonly path: string;
  readonly body: (name: string) => object;
  /** A PUT to the created object. */
  readonly change?: (name: string) => readonly [path: string, body: object];
  readonly remove: (name: string, id: string) => readonly [path: string, body?: object];
  /** Names of all existing things, each as often as it exists. */
  // biome-ignore lint/suspicious/noExplicitAny: four lists of different shapes, read by one name each
  readonly names: (body: any) => readonly string[];
};

const tupleOf = (name: string) => ({
  user_type: 'user',
  user_id: 'ada',
  relation: 'viewer',
  object_type: 'document',
  object_id: name,
});

const KINDS: { readonly [service: string]: Kind } = {
  identity: {
    path: '/api/v1/agents',
    body: (name) => ({ name }),
    remove: (_, id) => [`/api/v1/agents/${id}`],
    names: ({ agents }) => agents.map(({ name }: { name: string }) => name),
  },
  // The creation of a tuple needs no key, because the tuple itself identifies it.
  authz: {
    path: '/api/v1/fga/tuples',
    body: tupleOf,
    remove: (name) => ['/api/v1/fga/tuples', tupleOf(name)],
    names: ({ tuples }) => tuples.map(({ object_id }: { object_id: string }) => object_id),
  },
  vault: {
    path: '/api/v1/vault/services',
    body: (name) => ({ name, credential_type: 'static', fields: [{ name: 'password' }] }),
    change: (name) => [`/api/v1/vault/services/${name}/secrets`, { fields: { password: name } }],
    remove: (name) => [`/api/v1/vault/services/${name}`],
    names: ({ services }) => services.map(({ name }: { name: string }) => name),
  },
  webhooks: {
    path: '/api/v1/webhooks',
    body: (name) => ({ url: `http://127.0.0.1:9/${name}`, events: ['user.created'] }),
    remove: (_, id) => [`/api/v1/webhooks/${id}`],
    names: ({ webhooks }) => webhooks.map(({ url }: { url: string }) => url.split('/').at(-1)),
  },
};

export type SteadyWrites = {
  /** The number of creations at the service. */
  count(service: string): number;
  /**
   * Creations that were sent more than once, and the number of other requests that were sent again because the response
   * said so.
   */
  repeats(): number;
  /** What went wrong, a sentence each. */
  readonly failures: readonly string[];
  stop(): Promise<void>;
  /** Expects that what was kept exists once, and that what was removed does not exist, whatever was repeated. */
  expectMadeOnce(): Promise<void>;
};

/** Runs one writer per service, until it is stopped. */
export function steadyWrites(rest: RestDriver): SteadyWrites {
  const failures: string[] = [];
  const made = new Map(Object.keys(KINDS).map((service) => [service, 0]));
  let repeats = 0;
  let running = true;
  const repeated = (): void => {
    repeats += 1;
  };

  const atOnce = async (method: string, path: string, body?: object): Promise<void> => {
    const send = () =>
      rest.call(method, path, { body, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    await repeatWhenBusy(send, repeated).then(
      ({ status, text }) => {
        if (status !== 200) failures.push(`${method} ${path} ${status} ${text}`);
      },
      (error: Error) => failures.push(`${method} ${path} ${error.message}`),
    );
  };
  const writer = async (service: string, kind: Kind): Promise<void> => {
    for (let number = 1; running; number += 1) {
      const name = `${service}-${number}`;
      const { id, tries } = await create(rest, kind, name);
      if (tries > 1) repeats += 1;
      if (id === undefined) failures.push(`POST ${kind.path} ${name} was never answered`);
      else made.set(service, number);
      if (kind.change !== undefined) await atOnce('PUT', ...kind.change(name));
      if (number % KEEP_EVERY !== 0) await atOnce('DELETE', ...kind.remove(name, id ?? ''));
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  };
  const writers = Object.entries(KINDS).map(([service, kind]) => writer(service, kind));
  return {
    count: (service) => made.get(service) ?? 0,
    repeats: () => repeats,
    failures,
    async stop() {
      running = false;
      await Promise.all(writers);
    },
    async expectMadeOnce() {
      for (const [service, kind] of Object.entries(KINDS)) {
        const count = made.get(service) ?? 0;
        const kept = Array.from({ length: count }, (_, index) => index + 1)
          .filter((number) => number % KEEP_EVERY === 0)
          .map((number) => `${service}-${number}`);
        // Other tests may have created something there, too.
        const there = async () =>
          kind
            .names((await rest.get(kind.path, { query: listOf(service) })).body)
            .filter((name) => name.startsWith(`${service}-`))
            .toSorted();
        const look = async () => expect(await there(), service).toEqual(kept.toSorted());
        await untilTrue(() => look().then(() => true), { what: `${service} has what was kept` });
      }
    },
  };
}

/** The list of webhooks has no pages. */
const listOf = (service: string) => (service === 'webhooks' ? {} : { limit: PAGE });

/** Repeats the creation under the same key until it is answered. */
async function create(
  rest: RestDriver,
  { path, body }: Kind,
  name: string,
): Promise<{ readonly id: string | undefined; readonly tries: number }> {
  const headers = { 'Idempotency-Key': randomUUID() };
  const deadline = performance.now() + MADE_MS_MAX;
  for (let tries = 1; ; tries += 1) {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    const answer = await rest
      .post(path, body(name), { headers, signal })
      .catch((): undefined => undefined);
    const id = answer === undefined ? undefined : idOf(answer);
    const isFinal = answer !== undefined && !BROKE_OFF.has(answer.status);
    if (id !== undefined || isFinal || performance.now() > deadline) return { id, tries };
    await new Promise((resolve) => setTimeout(resolve, REPEAT_PAUSE_MS));
  }
}

/** A secret is shown once; a repeat returns the id. A tuple has no id but itself. */
function idOf({ status, code, body }: RestAnswer): string | undefined {
  if (status === 409 && code === 'already_created') return body.error.details.id;
  return status < 300 ? String(body.id ?? '') : undefined;
}
