/** Encrypts the metadata of a request under the user's own key. */
import type { Sealed } from '@cardea/crypto';
import type { UserDirectory } from '../user-directory.ts';
import {
  METADATA_KINDS,
  type Metadata,
  type MetadataChange,
  type MetadataChanges,
  type MetadataFault,
  type MetadataKind,
  mergeMetadata,
  metadataFault,
  type NewMetadata,
  type SealedMetadata,
} from './metadata.ts';
import type { ExistingUser } from './user.ts';

type Owner = { readonly tenantId: string; readonly userId: string };

export async function sealNewMetadata(
  userDirectory: Pick<UserDirectory, 'seal'>,
  owner: Owner,
  metadata: NewMetadata,
): Promise<SealedMetadata | 'erased'> {
  const result: { [kind in MetadataKind]?: Sealed } = {};
  for (const kind of METADATA_KINDS) {
    const value = metadata[kind];
    if (value === undefined) continue;
    const sealed = await userDirectory.seal(owner, kind, JSON.stringify(value));
    if (sealed === 'erased') return 'erased';
    result[kind] = sealed;
  }
  return result;
}

export type MetadataPatches = { readonly [kind in MetadataKind]?: Metadata | null };
export type RefusedMetadata = { readonly field: MetadataKind; readonly rule: MetadataFault };

/** Applies the patches to the user's objects and encrypts the results. */
export async function sealMetadata(
  userDirectory: Pick<UserDirectory, 'metadataOf' | 'seal'>,
  { tenantId, user }: { readonly tenantId: string; readonly user: ExistingUser },
  patches: MetadataPatches,
): Promise<MetadataChanges | RefusedMetadata | 'erased'> {
  const result: { [kind in MetadataKind]?: MetadataChange } = {};
  const kinds = METADATA_KINDS.filter((kind) => patches[kind] !== undefined);
  if (kinds.length === 0) return result;
  const current = await userDirectory.metadataOf(user);
  const before = {
    public_metadata: user.publicMetadata ?? null,
    private_metadata: user.privateMetadata ?? null,
  };
  for (const kind of kinds) {
    const patch = patches[kind] ?? null;
    const broken = metadataFault(patch);
    if (broken !== undefined) return { field: kind, rule: broken };
    const after = mergeMetadata(current[kind], patch);
    const rule = metadataFault(after);
    if (rule !== undefined) return { field: kind, rule };
    const isEmpty = Object.keys(after).length === 0;
    const owner = { tenantId, userId: user.id };
    const sealed = isEmpty ? null : await userDirectory.seal(owner, kind, JSON.stringify(after));
    if (sealed === 'erased') return 'erased';
    result[kind] = { after: sealed, before: before[kind] };
  }
  return result;
}
