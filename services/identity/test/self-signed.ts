/**
 * A self-signed certificate for 127.0.0.1 (RFC 5280), encoded byte by byte. None of our libraries makes certificates,
 * and not every machine has a program that does.
 */
import { generateKeyPairSync, sign } from 'node:crypto';

const VALID_MS = 24 * 3600_000;
const [SEQUENCE, SET, INTEGER, BITS, OCTETS, UTF8, UTC_TIME] = [0x30, 0x31, 2, 3, 4, 12, 23];
/** Context tags: the version, the extensions, and the IP address among the names. */
const [VERSION, EXTENSIONS, ADDRESS] = [0xa0, 0xa3, 0x87];
const TRUE = Buffer.from([1, 1, 0xff]);
const LOOPBACK = Buffer.from([127, 0, 0, 1]);
const LONG_FORM = 0x80;

const identifier = (hex: string): Buffer => Buffer.from(hex, 'hex');
const ECDSA_WITH_SHA256 = identifier('06082a8648ce3d040302');
const COMMON_NAME = identifier('0603550403');
const SUBJECT_ALT_NAME = identifier('0603551d11');
const BASIC_CONSTRAINTS = identifier('0603551d13');

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size = length < LONG_FORM ? [length] : [LONG_FORM + 2, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const time = (ms: number): Buffer =>
  der(UTC_TIME, Buffer.from(`${new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14)}Z`));

export function selfSigned(): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256);
  const text = der(UTF8, Buffer.from('cardea.test'));
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, text)));
  const names = der(SEQUENCE, der(ADDRESS, LOOPBACK));
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTETS, names)),
    der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTETS, der(SEQUENCE, TRUE))),
  );
  const facts = der(
    SEQUENCE,
    ...[der(VERSION, der(INTEGER, Buffer.from([2]))), der(INTEGER, Buffer.from([1]))],
    ...[algorithm, name, der(SEQUENCE, time(Date.now() - VALID_MS), time(Date.now() + VALID_MS))],
    ...[name, publicKey.export({ type: 'spki', format: 'der' }), der(EXTENSIONS, extensions)],
  );
  const signature = der(BITS, Buffer.from([0]), sign('sha256', facts, privateKey));
  const base64 = der(SEQUENCE, facts, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
