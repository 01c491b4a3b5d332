/** Runs schemathesis, a fuzzer of OpenAPI documents, against a server, and returns what it found. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type Play = {
  readonly command: string;
  /** The folder into which reports are written. */
  readonly folder: string;
  readonly name: string;
  readonly document: object;
  /** Operations to test. */
  readonly operationIds: readonly string[];
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly requestsPerOperation: number;
  readonly seed: number;
};
export type Finding = {
  readonly operation: string;
  readonly check: string;
  readonly status: number | undefined;
  /** Code of the refusal, if it was one. */
  readonly code: string | undefined;
  /** For an `invalid_request`: `field rule`. */
  readonly fault: string | undefined;
  /** Headers that were sent, each as `Name: value`. */
  readonly headers: readonly string[];
  /** The request and the answer, for the reader of a report. */
  readonly what: string;
};
export type Played = {
  readonly requests: number;
  readonly findings: readonly Finding[];
  /** Operations that never accepted the credential, and returned nothing else. */
  readonly unreached: readonly string[];
  /** Requests that were not answered in time, or could not be made. */
  readonly unanswered: readonly string[];
};

/** The command, undefined if it is not installed. */
export function schemathesisCommand(): string | undefined {
  const named = process.env['SCHEMATHESIS_BINARY'];
  return [named === undefined || named === '' ? 'schemathesis' : named].find((command) => {
    try {
      execFileSync(command, ['--version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** Longer than the longest poll. */
const ANSWER_WAIT_SECONDS = 60;

export async function play(options: Play): Promise<Played> {
  const { command, folder, name, document, url, headers } = options;
  const own = join(folder, name);
  const file = join(own, 'openapi.json');
  const report = join(own, 'report.ndjson');
  // schemathesis keeps what it learnt about one caller in its working folder.
  mkdirSync(own, { recursive: true });
  writeFileSync(file, JSON.stringify(document));
  const args = [
    ...['run', file, '--url', url, '--checks', 'all', '--continue-on-failure', '--no-color'],
    ...['--max-examples', String(options.requestsPerOperation), '--seed', String(options.seed)],
    ...['--request-timeout', String(ANSWER_WAIT_SECONDS), '--workers', '1'],
    ...['--max-response-time', String(ANSWER_WAIT_SECONDS)],
    ...['--generation-database', 'none', '--suppress-health-check', 'all', '--warnings', 'off'],
    ...['--report', 'ndjson', '--report-ndjson-path', report, '--output-sanitize', 'false'],
    ...options.operationIds.flatMap((id) => ['--include-operation-id', id]),
    ...Object.entries(headers).flatMap(([header, value]) => ['-H', `${header}: ${value}`]),
  ];
  const printed = await ended(command, args, own);
  writeFileSync(join(own, 'printed.txt'), printed);
  return readReport(readFileSync(report, 'utf8'));
}

/** Returns what the command printed. The command exits with 1 if it found something. */
function ended(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    const add = (chunk: Buffer) => {
      printed += chunk.toString('utf8');
    };
    child.stdout.on('data', add);
    child.stderr.on('data', add);
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 || code === 1
        ? resolve(printed)
        : reject(new Error(`schemathesis ended with ${code}: ${printed.slice(-2_000)}`)),
    );
  });
}

type Case = {
  readonly value: {
    readonly method: string;
    readonly path: string;
    readonly meta: { readonly generation: { readonly mode: string } };
  };
};
type Bytes = { readonly $base64: string };
type Interaction = {
  readonly request: { readonly uri: string; readonly headers: object; readonly body?: Bytes };
  readonly response: { readonly status_code: number; readonly content?: Bytes } | null;
};
type Recorder = {
  readonly cases: { readonly [id: string]: Case };
  readonly checks: {
    readonly [id: string]: readonly { readonly name: string; readonly status: string }[];
  };
  readonly interactions?: { readonly [id: string]: Interaction };
};
type Line = {
  readonly ScenarioFinished?: { readonly recorder?: Recorder };
  readonly NonFatalError?: { readonly label: string; readonly value: { readonly type: string } };
};

const UNAUTHENTICATED = 401;
const CHARACTERS_SHOWN_MAX = 600;

/**
 * The report has one event per line; of a scenario, every request with its answer and the results of the
 * checks.
 */
function readReport(text: string): Played {
  const lines = text
    .split('\n')
    .filter((line) => /^\{"(?:ScenarioFinished|NonFatalError)"/.test(line))
    .map((line) => JSON.parse(line) as Line);
  const recorders = lines.flatMap(({ ScenarioFinished }) => ScenarioFinished?.recorder ?? []);
  const played = recorders.flatMap(({ cases, checks, interactions = {} }) =>
    Object.entries(interactions).flatMap(([id, { request, response }]) => {
      const sent = cases[id]?.value;
      return sent === undefined ? [] : [{ sent, request, response, checks: checks[id] ?? [] }];
    }),
  );
  const positive = played.filter(({ sent }) => sent.meta.generation.mode === 'positive');
  const titleOf = ({ method, path }: Case['value']) => `${method} ${path}`;
  const reached = new Set(
    positive
      .filter(({ response }) => !isWithoutCredential(response))
      .map(({ sent }) => titleOf(sent)),
  );
  const tried = new Set(positive.map(({ sent }) => titleOf(sent)));
  return {
    requests: played.length,
    unreached: [...tried].filter((title) => !reached.has(title)).sort(),
    unanswered: lines.flatMap(({ NonFatalError: error }) =>
      error === undefined ? [] : `${error.label} ${error.value.type}`,
    ),
    findings: played.flatMap(({ sent, request, response, checks }) =>
      checks
        .filter(({ status }) => status === 'failure')
        .map(({ name }) => finding(titleOf(sent), name, { request, response })),
    ),
  };
}

/** The credential was not accepted; a public operation answers 401 with other codes. */
const isWithoutCredential = (response: Interaction['response'] | undefined): boolean =>
  response?.status_code === UNAUTHENTICATED &&
  /"(?:unauthenticated|INVALID_AGENT_KEY|invalid_agent_key)"/.test(textOf(response.content));

function finding(
  operation: string,
  check: string,
  { request, response }: Pick<Interaction, 'request' | 'response'>,
): Finding {
  const answer = textOf(response?.content);
  const { Authorization: _, 'X-Service-Token': __, ...headers } = request.headers as Headers;
  const body = textOf(request.body).slice(0, CHARACTERS_SHOWN_MAX);
  return {
    operation,
    check,
    status: response?.status_code,
    code: /"code":"(\w+)"/.exec(answer)?.[1],
    fault: /"field":"([^"]+)","rule":"([^"]+)"/.exec(answer)?.slice(1).join(' '),
    headers: Object.entries(headers).map(([name, values]) => `${name}: ${String(values)}`),
    what: `${request.uri.replace(/^http:..[^/]+/, '')} ${JSON.stringify(headers)} ${body} -> ${answer.slice(0, CHARACTERS_SHOWN_MAX)}`,
  };
}

type Headers = { readonly [name: string]: unknown };

const textOf = (bytes: Bytes | undefined): string =>
  bytes === undefined ? '' : Buffer.from(bytes.$base64, 'base64').toString('utf8');
