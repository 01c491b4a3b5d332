/**
 * Runs in a network namespace with its own `/etc/hosts`, search list and name server. Requests receivers by names that
 * resolve to private addresses, and prints which of them had a connection.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { outbound } from '@cardea/http';

const PORT = 8443;
const DNS_PORT = 53;
const ADDRESSES = ['10.20.0.9', '127.0.0.1', '169.254.169.254', 'fd00::9', 'fe80::9%lo'];
/** The names that the name server has. `/etc/hosts` has others. */
const RECORDS: { readonly [name: string]: string } = {
  'receiver.ns.svc.cluster.local': '10.20.0.9',
  'private.example.com': '10.20.0.9',
  'loopback.example.com': '127.0.0.1',
  'metadata.example.com': '169.254.169.254',
};
const NAMES = [
  'receiver',
  'receiver.ns.svc.cluster.local',
  'hosts-private.example.com',
  'hosts-loopback.example.com',
  'hosts-metadata.example.com',
  'hosts-unique-local.example.com',
  ...Object.keys(RECORDS).filter((name) => name.endsWith('.example.com')),
  '10.20.0.9',
  '127.0.0.1',
  '169.254.169.254',
  '[fd00::9]',
  '[fe80::9]',
];
const RANGES: { readonly [ranges: string]: readonly string[] } = {
  closed: [],
  open: ['10.20.0.0/16', 'fd00::/8'],
};

const HEADER_BYTES = 12;
const QUERY_A = 1;
const NO_SUCH_NAME = 3;

/** Answers a query for an A record that it knows, and any other with "no such name". */
function dnsAnswer(query: Buffer): Buffer {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  const end = at + 5;
  const address = RECORDS[labels.join('.').toLowerCase()];
  const isA = query.readUInt16BE(at + 1) === QUERY_A;
  const answers = address !== undefined && isA ? 1 : 0;
  const head = Buffer.from(query.subarray(0, end));
  head.writeUInt16BE(0x8180 | (address === undefined ? NO_SUCH_NAME : 0), 2);
  head.writeUInt16BE(answers, 6);
  head.writeUInt32BE(0, 8);
  if (answers === 0) return head;
  const record = [0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4];
  return Buffer.concat([
    head,
    Buffer.from([...record, ...(address as string).split('.').map(Number)]),
  ]);
}

const dns = createSocket('udp4');
dns.on('message', (query, { address, port }) => dns.send(dnsAnswer(query), port, address));
dns.bind(DNS_PORT, '127.0.0.1');
await once(dns, 'listening');

const connected = new Set<string>();
const receivers = ADDRESSES.map((host) => {
  const receiver = createServer((socket) => {
    connected.add(host);
    socket.destroy();
  });
  receiver.listen(PORT, host);
  return receiver;
});
await Promise.all(receivers.map((receiver) => once(receiver, 'listening')));

const outcomes: { ranges: string; name: string; error: string; connected: readonly string[] }[] =
  [];
for (const [ranges, allowedCidrs] of Object.entries(RANGES)) {
  const client = outbound({ env: 'production', allowedCidrs });
  for (const name of NAMES) {
    connected.clear();
    const url = `https://${name}:${PORT}/hook`;
    const { error = 'none' } = await client.send({ url, method: 'POST', headers: {}, body: '{}' });
    outcomes.push({ ranges, name, error, connected: [...connected] });
  }
  await client.close();
}
process.stdout.write(JSON.stringify(outcomes));
process.exit(0);
