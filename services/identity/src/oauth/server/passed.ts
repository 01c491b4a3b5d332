/** Types for the contracts of endpoints that the authorization server's library handles. */
import type { Contract } from '@cardea/http';
import type { RateLimit } from '@cardea/service';
import Type, { type TObject, type TSchema } from 'typebox';

export const text = Type.Optional(Type.String());
export const open = <Fields extends { readonly [name: string]: TSchema }>(fields: Fields) =>
  Type.Object(fields, { additionalProperties: true });

const credentials = { client_id: text, client_secret: text, client_assertion: text };
export const clientFields = { ...credentials, client_assertion_type: text };
export type Passed = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TSchema;
  readonly ok: TSchema;
  readonly response?: Omit<NonNullable<Contract['response']>, 'errors' | 'others'>;
  readonly repeat?: 'get_only';
  readonly limit: RateLimit | undefined;
};
