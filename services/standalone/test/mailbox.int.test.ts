import { connect } from 'node:net';
import { silentLogger } from '@cardea/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mailbox, startMailbox } from '../src/mailbox.ts';

const HOST = '127.0.0.1';
const options = { smtpPort: 0, port: 0, host: HOST, version: '0.0.0-test', log: silentLogger };

let mailbox: Mailbox;
beforeAll(async () => {
  mailbox = await startMailbox(options);
});
afterAll(() => mailbox.stop());

/** Sends SMTP lines and returns the code of each reply. */
async function speak(lines: readonly string[]): Promise<readonly number[]> {
  const socket = connect(mailbox.smtpPort, HOST);
  const codes: number[] = [];
  const left = [...lines];
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    const reply = /^(\d{3}) .*\r\n$/m.exec(text);
    if (reply === null) continue;
    codes.push(Number(reply[1]));
    text = '';
    const next = left.shift();
    if (next === undefined) socket.end();
    else socket.write(`${next}\r\n`);
  }
  return codes;
}

const mailTo = (recipients: readonly string[], body: string) => [
  'EHLO test',
  'MAIL FROM:<no-reply@example.com>',
  ...recipients.map((to) => `RCPT TO:<${to}>`),
  'DATA',
  `Subject: Confirm\r\n\r\n${body}\r\n.`,
  'QUIT',
];

const listed = async (to: string) => {
  const url = `http://${HOST}:${mailbox.port}/dev/mailbox?to=${encodeURIComponent(to)}`;
  const answer = await fetch(url, { headers: { accept: 'application/json' } });
  return ((await answer.json()) as { messages: readonly object[] }).messages;
};

describe('a mailbox for all processes', () => {
  it('shows what it took to each recipient, with the link and the code that stand in it', async () => {
    const body = 'Go on: http://127.0.0.1:8080/confirm#token=abc\r\n\r\n123456';
    const codes = await speak(mailTo(['Ada@example.com', 'bob@example.com'], body));
    expect(codes.filter((code) => code >= 400)).toEqual([]);
    for (const to of ['ada@example.com', 'bob@example.com']) {
      expect(await listed(to)).toMatchObject([
        { subject: 'Confirm', link: 'http://127.0.0.1:8080/confirm#token=abc', code: '123456' },
      ]);
    }
  });

  it('shows a code of letters too, after its label', async () => {
    const body = 'Hello,\r\n\r\nYour code: K7QF-3MXP\r\n\r\nThe code works once.';
    await speak(mailTo(['code@example.com', 'also@example.com'], body));
    expect(await listed('code@example.com')).toMatchObject([{ code: 'K7QF-3MXP' }]);
  });

  it('refuses more recipients and larger mail than anybody needs', async () => {
    const many = Array.from({ length: 11 }, (_, index) => `many-${index}@example.com`);
    const codes = await speak([...mailTo(many, 'x').slice(0, 13), 'QUIT']);
    expect(codes.filter((code) => code >= 500)).toHaveLength(1);
    const large = `${'x'.repeat(900)}\r\n`.repeat(1300);
    expect(await speak(mailTo(['large@example.com'], large))).toContain(552);
    expect(await listed('large@example.com')).toEqual([]);
  });

  it('leaves nothing behind where its page finds no port', async () => {
    const second = startMailbox({ ...options, port: mailbox.port });
    await expect(second).rejects.toThrow(`port ${mailbox.port} is taken`);
  });

  it('says that it is there', async () => {
    expect((await fetch(`http://${HOST}:${mailbox.port}/health`)).status).toBe(200);
  });
});
