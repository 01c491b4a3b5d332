/**
 * Plays the product's story over plain HTTP and prints each step: the request and the response. It stops at
 * the first response that differs from the story.
 */
const ANSWER_MS_MAX = 35_000;
/** Many times longer than an idle machine takes. */
const LOOK_MS_MAX = 90_000;
const LOOK_AGAIN_MS = 50;
const SECRET_CHARS_SHOWN = 6;
const FIELD_CHARS_MAX = 60;

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
};
export type Reply = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tour checks what it reads, field by field.
  readonly body: any;
};
export type Response = {
  readonly step: number;
  readonly sentence: string;
  readonly calls: readonly { readonly line: string; readonly shown: string }[];
};

/** A difference from the story: what was expected and what came, as text. */
export class Surprise extends Error {
  override readonly name = 'Surprise';
}

export type Player = {
  /** The base URL of the instance. */
  readonly base: string;
  /** Starts the next step. */
  step(number: number, sentence: string): void;
  /** Calls, checks the status, prints the named fields, and returns the reply. */
  call(call: Call, status: number, show?: readonly string[]): Promise<Reply>;
  /** Works like `call`, but prints nothing. It is for polling. */
  look(call: Call): Promise<Reply>;
  /** Prints something that was not a call, e.g. a webhook that arrived. */
  tell(sentence: string): void;
};

export function player(
  base: string,
  print: (line: string) => void,
): Player & { told(): Response[] } {
  const steps: { step: number; sentence: string; calls: { line: string; shown: string }[] }[] = [];
  const tellLine = (line: string, shown: string): void => {
    steps.at(-1)?.calls.push({ line, shown });
    print(`    ${line}${shown === '' ? '' : `  ${shown}`}`);
  };
  return {
    base,
    step(number, sentence) {
      steps.push({ step: number, sentence, calls: [] });
      print(`\n${String(number).padStart(2)}  ${sentence}`);
    },
    look: (call) => send(base, call),
    tell: (sentence) => tellLine(sentence, ''),
    async call({ method, path, headers = {}, body }, status, show = []) {
      const reply = await send(base, { method, path, headers, body });
      tellLine(`${method} ${path} ${reply.status}`, fields(reply.body, show));
      expect(reply.status === status, `${method} ${path} to answer ${status}`, {
        status: reply.status,
        body: reply.body ?? reply.text.slice(0, 500),
      });
      return reply;
    },
    told: () => steps,
  };
}

/** Polls until the condition holds, or the time is over; the caller then checks what it expected. */
export async function pollUntil(
  { look }: Pick<Player, 'look'>,
  call: Call,
  isSo: (reply: Reply) => boolean,
): Promise<Reply> {
  const deadline = Date.now() + LOOK_MS_MAX;
  for (;;) {
    const reply = await look(call);
    if (isSo(reply) || Date.now() >= deadline) return reply;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/** Ends the story when a condition does not hold. */
export function expect(holds: boolean, expected: string, got: unknown): asserts holds {
  if (!holds) throw new Surprise(`expected ${expected}\ngot      ${JSON.stringify(got)}`);
}

async function send(base: string, { method, path, headers, body }: Call): Promise<Reply> {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(new URL(path, base), {
    method,
    headers: {
      // `fetch` sets the content type of forms.
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}

/** The named fields of a response, by dotted path; secrets are cut to six characters. */
function fields(body: unknown, show: readonly string[]): string {
  return show
    .map((path) => {
      const value = path.split('.').reduce<Reply['body']>((inner, key) => inner?.[key], body);
      return value === undefined ? '' : `${path}=${shorten(path, value)}`;
    })
    .filter((text) => text !== '')
    .join(' ');
}

const SECRET_NAME = /token|secret|(^|\.)key$|password|\.fields\./;

function shorten(path: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (SECRET_NAME.test(path)) return `${text.slice(0, SECRET_CHARS_SHOWN)}…`;
  return text.length > FIELD_CHARS_MAX ? `${text.slice(0, FIELD_CHARS_MAX)}…` : text;
}
