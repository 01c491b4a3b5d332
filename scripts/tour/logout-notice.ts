/**
 * The logout notice of step 16: the application is notified that the person has signed out, if the instance can reach
 * it.
 */
import { createPublicKey, verify } from 'node:crypto';
import { type Cast, claims } from './cast.ts';
import { expect, type Player } from './player.ts';

const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout';
const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;

/** Our receiver is on loopback, so only an instance on this host can send it notices. */
export const canHearNotices = ({ base }: Player): boolean => LOOPBACK.test(new URL(base).hostname);

export async function noticeArrives(
  cast: Cast,
  of: { readonly client_id: string; readonly idToken: string },
): Promise<void> {
  const { player, hooks } = cast;
  if (!canHearNotices(player)) {
    player.tell('skipped: the logout notice (the instance cannot reach our loopback)');
    return;
  }
  const { sid } = claims(of.idToken);
  const token = await hooks.waitForLogout((each) => claims(each)['sid'] === sid);
  expect(token !== undefined, 'a logout token for the session that ended', 'nothing came');
  const header = await verifiedByRsa(player, 'logout token', token);
  const { sub, aud, events, nonce } = claims(token);
  const isRight =
    header['typ'] === 'logout+jwt' &&
    sub === cast.userId &&
    aud === of.client_id &&
    nonce === undefined &&
    JSON.stringify(events) === JSON.stringify({ [LOGOUT]: {} });
  expect(isRight, 'a logout token for this person and application', { header, sub, aud, events });
}

/** Verifies a token as an application does, and returns its header. */
export async function verifiedByRsa(
  player: Player,
  name: string,
  token: string,
): Promise<Record<string, unknown>> {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const read = JSON.parse(Buffer.from(header, 'base64url').toString('utf8'));
  const { keys } = (await player.call({ method: 'GET', path: '/oauth2/jwks' }, 200)).body;
  const key = keys.find((each: { readonly kid: string }) => each.kid === read.kid);
  const isRight =
    read.alg === 'RS256' &&
    verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      createPublicKey({ key, format: 'jwk' }),
      Buffer.from(signature, 'base64url'),
    );
  expect(isRight, `a signature of a published RSA key below the ${name}`, read);
  player.tell(`the ${name} is verified by its RSA key`);
  return read;
}
