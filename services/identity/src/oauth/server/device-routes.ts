/** The endpoints of the device flow (RFC 8628), for the device and for the person who decides. */
import Type from 'typebox';
import { LIMITS } from '../../http/limits.ts';
import { clientFields, open, type Passed, text } from './passed.ts';

const PAGE = { ok: Type.String(), response: { mediaType: 'text/html' } } as const;

export const DEVICE_PASSED: readonly Passed[] = [
  {
    name: 'authorize_device',
    summary: 'Ask for a code that a user enters elsewhere',
    description:
      'Answers the code that a device shows and the one that it polls the token endpoint with, both valid for 10 minutes. The application authenticates as at the token endpoint.',
    method: 'post',
    path: '/oauth2/device_authorization',
    body: open({ scope: text, resource: text, ...clientFields }),
    ok: open({
      device_code: Type.String(),
      user_code: Type.String(),
      verification_uri: Type.String(),
      verification_uri_complete: Type.String(),
      expires_in: Type.Integer(),
      interval: Type.Integer(),
    }),
    // This limit counts refusals by address. Requests are counted by client when the client is known.
    limit: LIMITS.tokenFailuresByIp,
  },
  {
    ...PAGE,
    name: 'device_page',
    summary: 'Page on which the code of a device is entered',
    description: 'Shows the page on which a user enters the code that a device shows (RFC 8628).',
    method: 'get',
    repeat: 'get_only',
    path: '/oauth2/device',
    query: open({ user_code: text }),
    limit: LIMITS.authorizeByIp,
  },
  {
    ...PAGE,
    name: 'enter_device_code',
    summary: 'Enter or confirm the code of a device, by a form',
    description:
      'Takes the form of that page: the code, then the confirmation that it is the one on the device. 20 wrong codes of an address are allowed in 10 minutes.',
    method: 'post',
    path: '/oauth2/device',
    body: open({ user_code: text, xsrf: text, confirm: text, abort: text }),
    // Wrong codes have a further limit by address.
    limit: LIMITS.authorizeByIp,
  },
  {
    ...PAGE,
    name: 'resume_device',
    summary: 'Go on where the user was sent to decide about a device',
    description:
      'Goes on after the user was sent to sign in for a device. It needs the cookies of the browser that began.',
    method: 'get',
    repeat: 'get_only',
    path: '/oauth2/device/{uid}',
    params: Type.Object({ uid: Type.String({ minLength: 1, maxLength: 128 }) }),
    limit: LIMITS.authorizeByIp,
  },
];
