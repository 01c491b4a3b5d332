/** The dependencies of pages on their service, apart from endpoints. */
import { DEFAULT_LANGUAGE } from '@cardea/mail';
import type { VisitDependencies } from '../session/visits.ts';
import type { Catalogue } from '../texts/texts.ts';
import type { PageDependencies, Proofs } from './page-context.ts';

type Peers = {
  readonly identity: Proofs &
    Pick<VisitDependencies, 'ended'> & { readonly pageToken: VisitDependencies['renew'] };
};

/** The internal calls to identity that every page needs, by the names that pages use. */
export const callsOfPages = ({
  identity: { pageToken: renew, ended, proofs, stepUp },
}: Peers): Proofs & Pick<VisitDependencies, 'ended' | 'renew'> => ({
  renew,
  ended,
  proofs,
  stepUp,
});

/** Pages without forms, for a service that does not know the appearance of its tenants. */
export const plainPages = <Key extends string>(
  needs: Omit<VisitDependencies, 'ended' | 'renew'> & { readonly peers: Peers },
  texts: Catalogue<Key>,
): PageDependencies<Key> => ({
  ...needs,
  ...callsOfPages(needs.peers),
  texts,
  admitForm: async () => undefined,
  tenant: async () => ({
    displayName: '',
    settings: { branding: {}, language: DEFAULT_LANGUAGE },
  }),
});
