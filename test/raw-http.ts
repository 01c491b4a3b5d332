/** HTTP as bytes on a bare socket, for requests that no client would send. */
import { connect } from 'node:net';

export type RawAnswer = {
  readonly status: number;
  /** Names in lower case; if a name is repeated, the last value counts. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

const DEADLINE_MS = 20_000;

/** Resolves with everything received when the other side closes; throws if it does not in time. */
export function rawly(port: number, bytes: string, deadlineMs = DEADLINE_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let got = '';
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`still open after ${deadlineMs} ms, got ${JSON.stringify(got)}`));
    }, deadlineMs);
    const done = () => {
      clearTimeout(timer);
      resolve(got);
    };
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1');
    });
    socket.on('error', done);
    socket.on('close', done);
    socket.write(bytes);
  });
}

export function readAnswer(text: string): RawAnswer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
}

/** The path is sent unchanged. */
export const askRaw = async (
  port: number,
  path: string,
  more: {
    readonly method?: string;
    readonly headers?: readonly string[];
    readonly body?: string;
  } = {},
): Promise<RawAnswer> => {
  const { method = 'GET', headers = [], body = '' } = more;
  const head = [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers];
  return readAnswer(await rawly(port, `${head.join('\r\n')}\r\n\r\n${body}`));
};
