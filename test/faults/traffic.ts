/**
 * Ordinary use of every instance: users sign in and stay signed in, keys check, agents get what they may
 * have.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { testForm } from '@cardea/testing';
import type { Addresses, Company } from './company.ts';

const PAUSE_MS = testForm.long ? 40 : 80;
/** A session may be refreshed 300 times a minute. */
const REFRESH_PAUSE_MS = 250;

/** The pause that `Retry-After` names. */
const RETRY_MS = 1_000;

const UNAVAILABLE = /"code":"(UNAVAILABLE|temporarily_unavailable)"/;

export type Traffic = {
  /** What went wrong, a sentence each. */
  readonly failures: readonly string[];
  /**
   * The requests that were answered 503 and then repeated, which is right: without the cache, a process waits at most
   * two seconds for the others or for identity, and a busy machine may need longer.
   */
  readonly repeated: readonly string[];
  count(): number;
  stop(): Promise<void>;
};

/** Runs until it is stopped. */
export async function traffic(
  all: readonly { readonly at: Addresses }[],
  users: Company,
): Promise<Traffic> {
  const failures: string[] = [];
  const repeated: string[] = [];
  let count = 0;
  let running = true;
  const [key, machine] = [await users.apiKey(), await users.machine()];
  const workers = all.flatMap(({ at }, number) => {
    const each = async (
      what: string,
      work: () => Promise<string | undefined>,
      pauseMs = PAUSE_MS,
    ): Promise<void> => {
      while (running) {
        const first = await faultOf(work);
        let wrong = first;
        if (first !== undefined && UNAVAILABLE.test(first)) {
          await pause(RETRY_MS);
          wrong = await faultOf(work);
        }
        count += 1;
        if (wrong !== undefined) failures.push(`${what} at ${number}: ${wrong}`);
        else if (first !== undefined) repeated.push(`${what} at ${number}: ${first}`);
        await pause(pauseMs);
      }
    };
    let token: string | undefined;
    return [
      each('login', async () => not200(await at.logIn())),
      each(
        'refresh',
        async () => {
          token ??= await users.refreshToken();
          const answer = await at.refresh(token);
          token = answer.body?.refresh_token;
          return not200(answer);
        },
        REFRESH_PAUSE_MS,
      ),
      each('check', async () => {
        const [yes, no] = [await at.check(key.key, 'ann'), await at.check(key.key, 'bob')];
        if (yes.body?.allowed === true && no.body?.allowed === false) return undefined;
        return `${yes.text} ${no.text}`;
      }),
      each('vend', async () => {
        const answer = await at.vend(machine);
        return answer.body?.data?.fields?.password === undefined ? answer.text : undefined;
      }),
    ];
  });
  return {
    failures,
    repeated,
    count: () => count,
    async stop() {
      running = false;
      await Promise.all(workers);
    },
  };
}

const faultOf = (work: () => Promise<string | undefined>): Promise<string | undefined> =>
  work().catch((error: Error) => error.message);

const not200 = ({ status, text }: { status: number; text: string }): string | undefined =>
  status === 200 ? undefined : `${status} ${text}`;
