import { beforeEach, expect, it } from 'vitest';
import { connectionDigests } from './authenticator.ts';
import { credentialDigest } from './tokens/token-verifier.ts';

let hashed: string[] = [];
const fixture = () =>
  connectionDigests((credential) => {
    hashed.push(credential);
    return credentialDigest(credential);
  });

beforeEach(() => {
  hashed = [];
});

it('hashes a credential once for each connection', () => {
  const digestOf = fixture();
  const [one, other] = [{}, {}];
  for (const connection of [one, one, other, one]) {
    expect(digestOf('svc_live_a', connection)).toBe(credentialDigest('svc_live_a'));
  }
  expect(hashed).toEqual(['svc_live_a', 'svc_live_a']);
});

it('tells the credentials of several callers apart that come over one connection', () => {
  const digestOf = fixture();
  const connection = {};
  for (const credential of ['a', 'b', 'a', 'a']) {
    expect(digestOf(credential, connection)).toBe(credentialDigest(credential));
  }
  expect(hashed).toEqual(['a', 'b', 'a']);
});

it('hashes each time where no connection is named', () => {
  const digestOf = fixture();
  expect(digestOf('a', undefined)).toBe(digestOf('a', undefined));
  expect(hashed).toEqual(['a', 'a']);
});
