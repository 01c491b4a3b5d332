/** Which containers of docker-compose.yml share a network, and what may be in plaintext between them. */
import {
  type ComposeSubject,
  environmentOf,
  named,
  SERVERS,
  servicesOf,
  WATCHERS,
} from './compose-subject.ts';
import { difference, REACH_OUTSIDE, type Rule, SERVICES } from './rule.ts';

/** Kafka and EventStoreDB authenticate no client, so only services may share their networks. */
const MEMBERS: { readonly [network: string]: readonly string[] } = {
  data: [...SERVERS, ...SERVICES, 'migrate'],
  inside: [...SERVICES, 'gateway', 'mailbox', ...WATCHERS],
  outside: [...REACH_OUTSIDE, 'gateway', 'mailbox'],
};

export const keepsServersInside: Rule<ComposeSubject> = (subject) => [
  ...['data', 'inside']
    .filter((network) => subject.file.networks[network]?.internal !== true)
    .map((network) => `${network} has a way out`),
  ...difference(Object.keys(MEMBERS), Object.keys(subject.file.networks), 'the file'),
  ...Object.entries(MEMBERS).flatMap(([network, members]) =>
    difference(
      members,
      servicesOf(subject)
        .filter(([, { networks = [] }]) => networks.includes(network))
        .map(([name]) => name),
      network,
    ),
  ),
  ...servicesOf(subject)
    .filter(([, { networks = [], network_mode: mode }]) => networks.length === 0 && !mode)
    .map(([name]) => `${name} is on the network of everybody`),
];

/** The file of an SMTP server has to exist. An empty one states that none is wanted. */
export const asksForMail: Rule<ComposeSubject> = (subject) =>
  named(subject, ['identity', 'approval'])
    .filter(([, { environment = {} }]) => environment['SMTP_URL_FILE'] !== '/run/secrets/SMTP_URL')
    .map(([name]) => `${name} does not ask for SMTP_URL`);

/** Without the operator's explicit setting only the included servers may use plaintext. */
export const requiresTls: Rule<ComposeSubject> = ({ file, variables }) => {
  const { CARDEA_REQUIRE_TLS: _, CARDEA_ALLOW_PLAINTEXT: __, ...others } = variables;
  return named({ file, variables }, [...SERVICES, 'migrate']).flatMap(([name, service]) => {
    const environment = environmentOf(service, { file, variables: others });
    const allowed = environment['CARDEA_ALLOW_PLAINTEXT']?.split(',') ?? [];
    return [
      ...(environment['CARDEA_REQUIRE_TLS'] === 'true' ? [] : [`${name} may go without TLS`]),
      ...difference(SERVERS, allowed, `${name} in plaintext`),
    ];
  });
};
