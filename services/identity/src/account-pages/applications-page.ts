/** The permissions that a person has given to applications. */
import { ago, html, read } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, formOf, pageOf } from './endpoints.ts';

type Consent = {
  readonly id: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  readonly claims: readonly string[];
  readonly granted_at: string;
};
type Data = {
  readonly given: { readonly consents: readonly Consent[] };
  readonly me: {
    readonly workspace: { readonly applications: readonly { id: string; name: string }[] };
  };
};

export const applicationsPage = ({ listConsents, revokeConsent, currentUser }: AccountEndpoints) =>
  pageOf({
    name: 'applications_page',
    summary: 'The applications that the person has allowed to act for them',
    description: 'Lists what the person has allowed applications, and takes it back.',
    path: '/account/applications',
    reads: { given: read(listConsents), me: read(currentUser) },
    forms: {
      revoke: formOf(revokeConsent, {
        title: 'applications.revoke_title',
        submit: 'applications.revoke',
        done: 'applications.done',
        fields: [],
        opens: ({ frame: { say }, data }: AccountPage<Data>, { id }) => {
          const consent = data.given.consents.find((each) => each.id === id);
          const count = String(consent?.scopes.length ?? 0);
          const name = consent === undefined ? '' : nameOf(data, consent);
          return say('applications.revoke_lead', { name, count });
        },
      }),
    },
    view: ({ frame, data, form, list, now }) => ({
      title: frame.say('applications.title'),
      width: 'wide',
      body: html`<p>${frame.say('applications.lead')}</p>${list<Consent>({
        read: 'given',
        caption: 'applications.caption',
        rows: data.given.consents,
        columns: [
          { label: 'applications.name', cell: (each) => nameOf(data, each) },
          {
            label: 'applications.scopes',
            cell: ({ scopes, claims }) => [...scopes, ...claims].join(', '),
          },
          { label: 'applications.since', cell: ({ granted_at }) => ago(frame, granted_at, now) },
          {
            label: 'actions',
            cell: (each) => form('revoke', { params: { id: each.id }, about: nameOf(data, each) }),
          },
        ],
        nothing: frame.say('applications.none'),
      })}`,
    }),
  });

/** The tenant's own applications have a name. For others, the name is the URL that is their id. */
const nameOf = ({ me }: Data, { client_id }: Consent): string =>
  me.workspace.applications.find(({ id }) => id === client_id)?.name ?? client_id;
