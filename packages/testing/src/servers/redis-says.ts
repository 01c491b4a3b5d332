import { connect } from 'node:net';

/** The first line of the server's answer to one command. */
export function redisSays(url: string, words: readonly string[]): Promise<string> {
  const { hostname, port, username, password } = new URL(url);
  const encoded = (each: readonly string[]): string =>
    `*${each.length}\r\n${each.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
  const name = decodeURIComponent(username) || 'default';
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let said = '';
    socket.on('error', reject);
    socket.on('data', (data) => {
      said += data.toString('utf8');
      const [login = '', answer, ...more] = said.split('\r\n');
      if (answer === undefined || more.length === 0) return;
      socket.destroy();
      if (login === '+OK') resolve(answer);
      else reject(new Error(`no login: ${login}`));
    });
    socket.write(encoded(['AUTH', name, decodeURIComponent(password)]) + encoded(words));
  });
}
