/** Sends one page of users to `POST /api/v1/admin/users/import`, and retries until it is answered. */
import { setTimeout as sleepMs } from 'node:timers/promises';
import type { ImportedUser } from '@cardea/identity';
import { NotDone } from '../failures.ts';
import type { ImportAccess } from './import-access.ts';

export type PageAnswer = {
  /** Refusal codes by index on the page. The other users were imported. */
  readonly refused: ReadonlyMap<number, string>;
};

export type SendPage = (
  users: readonly ImportedUser[],
  of: { readonly key: string; readonly signal: AbortSignal },
) => Promise<PageAnswer>;

const PATH = '/api/v1/admin/users/import';
const ANSWER_MS_MAX = 120_000;
const ATTEMPTS_MAX = 12;
/** The first pause if there is no `Retry-After`. It doubles each time. */
const FIRST_WAIT_MS = 500;
const WAIT_MS_MAX = 60_000;
const RETRY_AFTER_SECONDS_MAX = 900;
const MS = 1_000;
const CODE = /^[A-Za-z_]{1,64}$/;
const PLACE = /^users\.(\d{1,3})(?:\.|$)/;

type Answer = {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: {
    readonly imported?: number;
    readonly failed?: readonly { readonly index: number; readonly code: string }[];
    readonly error?: { readonly code?: string; readonly details?: unknown };
  };
};

export const sendPage =
  (access: ImportAccess): SendPage =>
  async (users, { key, signal }) => {
    let isRenewed = false;
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const answer = await sent(access, users, { key, fresh: isRenewed });
      if (answer?.status === 200) return answered(answer);
      if (answer?.status === 401 && !isRenewed && answer.body.error?.code === 'unauthenticated') {
        isRenewed = true;
        continue;
      }
      const refused = answer?.status === 400 ? placesIn(answer) : new Map<number, string>();
      if (refused.size > 0) return withoutThem(access, users, { key, signal, refused });
      if (answer !== undefined && !isPassing(answer.status)) throw refusal(answer);
      if (attempt < ATTEMPTS_MAX) await pause(answer?.retryAfter ?? null, attempt, signal);
    }
    throw new NotDone('CARDEA_URL does not answer, or has no time', 'unavailable');
  };

/** Sends the page without the users whose form the API refuses, so that they do not stop the others. */
async function withoutThem(
  access: ImportAccess,
  users: readonly ImportedUser[],
  of: {
    readonly key: string;
    readonly signal: AbortSignal;
    readonly refused: ReadonlyMap<number, string>;
  },
): Promise<PageAnswer> {
  const places = users.flatMap((_, place) => (of.refused.has(place) ? [] : [place]));
  if (places.length === 0) return { refused: of.refused };
  const rest = users.filter((_, place) => !of.refused.has(place));
  const key = `${of.key}-${rest.length}`;
  const later = await sendPage(access)(rest, { key, signal: of.signal });
  const moved = [...later.refused].map(([place, code]) => [places[place] ?? place, code] as const);
  return { refused: new Map([...of.refused, ...moved]) };
}

async function sent(
  { url, bearer, tenantOf }: ImportAccess,
  users: readonly ImportedUser[],
  { key, fresh }: { readonly key: string; readonly fresh: boolean },
): Promise<Answer | undefined> {
  const credential = await bearer(fresh);
  if (credential === undefined)
    throw new NotDone('the credential is not accepted', 'unauthenticated');
  try {
    const answer = await fetch(new URL(PATH, url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${credential.reveal()}`,
        'x-service-tenant': tenantOf(credential),
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ users }),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const body = (await answer.json().catch(() => ({}))) as Answer['body'];
    return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body };
  } catch (error) {
    if (error instanceof NotDone) throw error;
    return undefined;
  }
}

const answered = ({ body: { failed = [] } }: Answer): PageAnswer => ({
  refused: new Map(failed.map(({ index, code }) => [index, codeOf(code)])),
});

/** The indexes that a 400 response names. */
function placesIn({ body: { error } }: Answer): ReadonlyMap<number, string> {
  const details = Array.isArray(error?.details) ? (error.details as { field?: unknown }[]) : [];
  const places = details.flatMap(({ field }) => PLACE.exec(String(field))?.[1] ?? []);
  return new Map(places.map((place) => [Number(place), 'invalid_request']));
}

const isPassing = (status: number): boolean => status === 429 || status >= 500;
const codeOf = (code: unknown): string =>
  typeof code === 'string' && CODE.test(code) ? code : 'refused';

function refusal({ status, body }: Answer): NotDone {
  const code = codeOf(body.error?.code);
  return code === 'step_up_required'
    ? new NotDone('the sign-in of CARDEA_ACCESS_TOKEN is too old: sign in again', code)
    : new NotDone(`the API answered ${status} ${code}`, code);
}

async function pause(retryAfter: string | null, attempt: number, signal: AbortSignal) {
  const seconds = Number(retryAfter ?? Number.NaN);
  const isNumber = Number.isFinite(seconds) && seconds >= 0;
  const waitMs = isNumber
    ? Math.min(seconds, RETRY_AFTER_SECONDS_MAX) * MS
    : Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), WAIT_MS_MAX);
  await sleepMs(waitMs, undefined, { signal }).catch(() => {
    throw new NotDone('stopped', 'stopped');
  });
}
