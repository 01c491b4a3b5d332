/** The agents that act for a person: what they may do, and what they are doing now. */
import { ago, html, type Markup, namesById, partLink, read, tag } from '@cardea/pages';
import { type AccountEndpoints, type AccountPage, formOf, pageOf } from './endpoints.ts';

const PAGE_ROWS = '50';
const STATES = { active: 'agents.active', ended: 'agents.ended' } as const;

type Service = { readonly service_name: string };
type Delegation = {
  readonly id: string;
  readonly agent_id: string;
  readonly services: readonly Service[];
  readonly created_at: string;
  readonly expires_at: string | null;
};
type AgentSession = {
  readonly id: string;
  readonly agent_id: string;
  readonly status: 'active' | 'ended';
  readonly services: readonly Service[];
  readonly purpose: string | null;
  readonly created_at: string;
};
type Data = {
  readonly agents: { readonly agents: readonly { id: string; name: string }[] };
  readonly delegations: { readonly delegations: readonly Delegation[]; readonly total: number };
  readonly live: { readonly data: { readonly total: number } };
  readonly sessions: {
    readonly data: { readonly sessions: readonly AgentSession[]; readonly total: number };
  };
};
type Page = AccountPage<Data>;

export const agentsPage = (endpoints: AccountEndpoints) =>
  pageOf({
    name: 'agents_page',
    summary: 'The agents that act for the person',
    description: 'Lists what agents may do for the person and their sessions, and ends them.',
    path: '/account/agents',
    reads: {
      agents: read(endpoints.myAgents, { preset: { limit: PAGE_ROWS } }),
      delegations: read(endpoints.listDelegations, { preset: { limit: PAGE_ROWS } }),
      sessions: read(endpoints.listAgentSessions, {
        url: { status: 'status', offset: 'offset' },
        preset: { limit: PAGE_ROWS },
        person: 'user_id',
      }),
      live: read(endpoints.listAgentSessions, {
        preset: { limit: '1', status: 'active' },
        person: 'user_id',
      }),
    },
    forms: {
      withdraw: formOf(endpoints.withdrawDelegation, {
        title: 'agents.withdraw_title',
        submit: 'agents.withdraw',
        done: 'agents.withdrawn',
        fields: [],
        opens: withdrawalOf,
      }),
      end: formOf(endpoints.endAgentSession, {
        title: 'agents.end',
        submit: 'agents.end',
        done: 'agents.end_done',
        fields: [],
      }),
      end_all: formOf(endpoints.withdrawAllDelegations, {
        title: 'agents.end_all',
        submit: 'agents.end_all',
        done: 'agents.end_all_done',
        fields: [],
        opens: ({ frame, data }: Page) => frame.say('agents.end_all_lead', countsOf(data)),
      }),
    },
    view: (page) => {
      const { say } = page.frame;
      return {
        title: say('agents.title'),
        width: 'wide',
        body: html`<section><h2>${say('agents.delegations')}</h2>${delegationList(page)}</section>
<section><h2>${say('agents.sessions')}</h2>${sessionList(page)}</section>
${endAll(page)}<section><h2>${say('agents.grants')}</h2>${partLink('/account/grants', 'recent', say('agents.grants_link'))}</section>
<section><h2>${say('agents.waits')}</h2>${partLink('/approve', 'waiting', say('agents.waits'))}</section>
<section><h2>${say('agents.channels')}</h2>${partLink('/account/channels', 'mine', say('agents.channels_link'))}</section>
<section><h2>${say('agents.deputy')}</h2>${partLink('/account/deputy', 'deputy', say('agents.deputy'))}</section>`,
      };
    },
    parts: { names: ({ data }) => namesById(data.agents.agents) },
  });

const countsOf = ({ delegations, live }: Data) => ({
  delegations: String(delegations.total),
  sessions: String(live.data.total),
});

/** The form to end everything is shown only if there is something to end. */
const endAll = ({ data, form }: Page): Markup =>
  data.delegations.total + data.live.data.total === 0
    ? html``
    : html`<div class="actions">${form('end_all')}</div>
`;

const agentName = ({ agents }: Data, id: string): string =>
  agents.agents.find((agent) => agent.id === id)?.name ?? id;

const servicesOf = (services: readonly Service[]): string =>
  services.map(({ service_name }) => service_name).join(', ');

/** The text states how many sessions end when the delegation is withdrawn. */
function withdrawalOf({ frame, data }: Page, { id }: { readonly [name: string]: string }): string {
  const delegation = data.delegations.delegations.find((each) => each.id === id);
  const agentId = delegation?.agent_id ?? '';
  const live = data.sessions.data.sessions.filter(
    (session) => session.agent_id === agentId && session.status === 'active',
  );
  const name = agentName(data, agentId);
  return frame.say('agents.withdraw_lead', { name, count: String(live.length) });
}

function delegationList({ frame, data, form, list, now }: Page) {
  const { say } = frame;
  const nameOf = ({ agent_id }: Delegation) => agentName(data, agent_id);
  return list<Delegation>({
    read: 'delegations',
    caption: 'agents.caption',
    rows: data.delegations.delegations,
    columns: [
      { label: 'agents.agent', cell: nameOf },
      { label: 'agents.services', cell: ({ services }) => servicesOf(services) },
      {
        label: 'agents.until',
        cell: ({ expires_at }) =>
          expires_at === null ? say('agents.no_end') : ago(frame, expires_at, now),
      },
      {
        label: 'actions',
        cell: (each) => form('withdraw', { params: { id: each.id }, about: nameOf(each) }),
      },
    ],
    nothing: say('agents.none'),
  });
}

function sessionList({ frame, data, form, list, now }: Page) {
  const { say } = frame;
  const nameOf = ({ agent_id }: AgentSession) => agentName(data, agent_id);
  return list<AgentSession>({
    read: 'sessions',
    caption: 'agents.sessions_caption',
    rows: data.sessions.data.sessions,
    total: data.sessions.data.total,
    filters: [{ name: 'status', label: 'agents.state', options: STATES }],
    columns: [
      { label: 'agents.agent', cell: nameOf },
      { label: 'agents.purpose', cell: ({ purpose }) => html`<q>${purpose ?? '–'}</q>` },
      { label: 'agents.services', cell: ({ services }) => servicesOf(services) },
      { label: 'agents.begun', cell: ({ created_at }) => ago(frame, created_at, now) },
      {
        label: 'agents.state',
        cell: ({ status }) => tag(status === 'active' ? 'good' : 'info', say(STATES[status])),
      },
      {
        label: 'actions',
        cell: ({ id, status, ...session }) =>
          status === 'ended'
            ? ''
            : form('end', { params: { id }, about: agentName(data, session.agent_id) }),
      },
    ],
    nothing: say('agents.no_sessions'),
  });
}
