/** The secret of a mailed link, `<tenant>.<32 random bytes>`. Only its hash is stored, as the id of a stream. */
import type { MailPurpose } from '@cardea/contracts';
import { sha256Of } from '@cardea/crypto';
import type { Random } from '@cardea/runtime';

const SECRET_BYTES = 32;
const FORM = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([A-Za-z0-9_-]{43})$/;

export const drawLinkToken = (tenantId: string, random: Random): string =>
  `${tenantId}.${random.bytes(SECRET_BYTES).toString('base64url')}`;

/** The tenant that a token names; undefined if the token is malformed. */
export const tenantOfToken = (token: string): string | undefined => FORM.exec(token)?.[1];

/** The id of the stream `onetime-<id>` or `socialcode-<id>`. */
export const onetimeIdOf = (
  purpose: MailPurpose | 'social',
  tenantId: string,
  token: string,
): string => sha256Of(purpose, tenantId, token).toString('hex');
