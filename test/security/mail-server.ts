/** A mail server on loopback that takes some time for each mail, and records the recipients. */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type MailServer = {
  readonly url: string;
  /** The number of mails to the address that have arrived. */
  readonly arrivals: (to: string) => number;
  /** The number of mails for all addresses that match. */
  readonly arrivalsOf: (to: RegExp) => number;
  readonly close: () => Promise<void>;
};

const CALL_ENDS = '\r\n';
const MAIL_ENDS = '\r\n.\r\n';

export async function mailServer(pauseMs: number): Promise<MailServer> {
  const arrived: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    answerCalls(socket, { pauseMs, took: (to) => void arrived.push(to) });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals: (to) => arrived.filter((each) => each === to).length,
    arrivalsOf: (to) => arrived.filter((each) => to.test(each)).length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Accepts one mail after another: the recipient, then the text. */
function answerCalls(
  socket: Socket,
  { pauseMs, took }: { readonly pauseMs: number; readonly took: (to: string) => void },
): void {
  let unread = '';
  let to = '';
  let isMail = false;
  const next = (): void => {
    const end = isMail ? MAIL_ENDS : CALL_ENDS;
    const at = unread.indexOf(end);
    if (at === -1) return;
    const call = unread.slice(0, at);
    unread = unread.slice(at + end.length);
    if (isMail) {
      isMail = false;
      took(to);
      setTimeout(() => socket.write('250 taken\r\n'), pauseMs);
    } else if (/^DATA$/i.test(call)) {
      isMail = true;
      socket.write('354 go on\r\n');
    } else {
      to = /^RCPT TO:<([^>]*)>/i.exec(call)?.[1] ?? to;
      socket.write(/^QUIT$/i.test(call) ? '221 bye\r\n' : '250 ok\r\n');
    }
    next();
  };
  socket.write('220 mail\r\n');
  socket.on('data', (chunk) => {
    unread += chunk;
    next();
  });
}
