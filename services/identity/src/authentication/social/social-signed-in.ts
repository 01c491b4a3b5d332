/** The response of a sign-in by a provider (`docs/contract.md` 2.2). */
import { named } from '@cardea/contracts';
import Type from 'typebox';
import { closed, tokenFields } from '../../http/answers.ts';

export const SocialSignedIn = named(
  'SocialSignedIn',
  closed({ user_id: Type.String(), ...tokenFields, is_new_user: Type.Boolean() }),
);
