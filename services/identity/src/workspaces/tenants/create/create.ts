/** Reads and validates the tenant that an owner creates. */
import { badField } from '../../../http/answers.ts';
import { companyName, isSlug, slugOf } from '../../workspaces.ts';

export type CreateTenantRequest = {
  readonly name: string;
  readonly slug?: string;
  readonly display_name?: string;
};

export type NewTenant = {
  readonly name: string;
  readonly displayName: string;
  readonly slug: string;
  /** Whether the owner chose the slug, so no other may be used. */
  readonly isChosen: boolean;
};

export function newTenant(
  body: CreateTenantRequest,
): { readonly tenant: NewTenant } | ReturnType<typeof badField> {
  const name = companyName(body.name);
  const displayName = companyName(body.display_name ?? body.name);
  if (name === undefined) return badField('name');
  if (displayName === undefined) return badField('display_name');
  if (body.slug !== undefined && !isSlug(body.slug)) return badField('slug');
  const isChosen = body.slug !== undefined;
  return { tenant: { name, displayName, slug: body.slug ?? slugOf(name), isChosen } };
}
