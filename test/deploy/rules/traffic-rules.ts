/** Rules about which workloads may reach which others: policies name the actual callers, and no others. */
import { podOf } from './kubernetes-rules.ts';
import type { Manifest, Manifests, Peer, Traffic } from './manifests.ts';
import { difference, REACH_OUTSIDE, type Rule, SERVICES } from './rule.ts';

const INTERNAL_PORT = 8082;
const GATEWAY_PROXIES = 'GATEWAY_TRUSTED_PROXIES';
/** Callers of each service's internal port. The other services have none. */
const CALLERS: { readonly [service: string]: readonly string[] } = {
  identity: SERVICES.filter((name) => name !== 'identity'),
  approval: ['vault'],
  authz: ['approval', 'vault'],
};
const PRIVATE = ['10.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16'];

const policiesOf = ({ documents }: Manifests): readonly Manifest[] =>
  documents.filter(({ kind, spec }) => kind === 'NetworkPolicy' && spec?.podSelector?.matchLabels);
const namesOf = (peers: readonly Peer[] = []): readonly string[] =>
  peers.map(
    ({ podSelector, namespaceSelector, ipBlock }) =>
      podSelector?.matchLabels?.['app.kubernetes.io/name'] ??
      namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'] ??
      ipBlock?.cidr ??
      'everybody',
  );
const portsOf = ({ ports = [] }: Traffic): readonly number[] => ports.map(({ port }) => port);

const told = (peers: readonly string[], ports: readonly number[]): string =>
  `${peers.toSorted().join('+')} at ${ports.join('+')}`;

export const letsInItsCallers: Rule<Manifests> = (subject) =>
  policiesOf(subject).flatMap(({ metadata: { name }, spec }) => {
    const callers = CALLERS[name] ?? [];
    const expected =
      name === 'gateway'
        ? [told(['ingress-nginx'], [8080])]
        : [
            told(['gateway'], [8080]),
            told(['monitoring'], [8081]),
            ...(callers.length === 0 ? [] : [told(callers, [INTERNAL_PORT])]),
          ];
    const found = (spec?.ingress ?? []).map((traffic) =>
      told(traffic.from === undefined ? ['everybody'] : namesOf(traffic.from), portsOf(traffic)),
    );
    return difference(expected, found, name);
  });

/** The overlay sets the proxies that the gateway trusts for a client's address, in a separate setting. */
export const believesNobodyUnnamed: Rule<Manifests> = ({ documents, settings }) => {
  const gateway = documents.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'gateway',
  );
  const given = gateway === undefined ? [] : (podOf(gateway).containers[0]?.env ?? []);
  const read = given
    .filter(({ name }) => name.includes('TRUSTED_PROXIES'))
    .map(({ name, value, valueFrom }) => `${name} ${value ?? JSON.stringify(valueFrom)}`);
  const own = { configMapKeyRef: { name: 'cardea-settings', key: GATEWAY_PROXIES } };
  return [
    ...difference([`${GATEWAY_PROXIES} ${JSON.stringify(own)}`], read, 'the gateway'),
    ...(settings[GATEWAY_PROXIES] === '' ? [] : ['the base names proxies of its own']),
  ];
};

export const requiresTls: Rule<Manifests> = ({ settings }) => [
  ...(settings['CARDEA_REQUIRE_TLS'] === 'true' ? [] : ['servers may be spoken to in plaintext']),
  ...(settings['CARDEA_ALLOW_PLAINTEXT'] ? ['a server may be spoken to in plaintext'] : []),
];

export const asksWhomItMay: Rule<Manifests> = (subject) =>
  policiesOf(subject).flatMap(({ metadata: { name }, spec }) => {
    const asked = (spec?.egress ?? [])
      .filter((traffic) => portsOf(traffic).includes(INTERNAL_PORT))
      .flatMap(({ to }) => namesOf(to));
    const expected = Object.keys(CALLERS).filter((each) => CALLERS[each]?.includes(name));
    return difference(expected, asked, name);
  });

/** Even these services may not reach what only the cluster should, above all its metadata service. */
export const reachesOutsideWhereItMust: Rule<Manifests> = (subject) => {
  const blocks = policiesOf(subject).flatMap(({ metadata, spec }) =>
    (spec?.egress ?? [])
      .flatMap(({ to = [{ ipBlock: { cidr: '0.0.0.0/0' } }] }) => to)
      .filter(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0')
      .map(({ ipBlock }) => ({ name: metadata.name, except: ipBlock?.except ?? [] })),
  );
  return [
    ...difference(
      REACH_OUTSIDE,
      blocks.map(({ name }) => name),
      'the internet',
    ),
    ...blocks
      .filter(({ except }) => PRIVATE.some((range) => !except.includes(range)))
      .map(({ name }) => `${name} reaches the inside as if it were outside`),
  ];
};

export const deniesTheRest: Rule<Manifests> = (subject) => [
  ...(subject.documents.some(
    ({ kind, spec }) =>
      kind === 'NetworkPolicy' &&
      JSON.stringify(spec?.podSelector) === '{}' &&
      spec?.policyTypes?.join() === 'Ingress,Egress' &&
      spec.ingress === undefined &&
      spec.egress === undefined,
  )
    ? []
    : ['what has no policy is open']),
  ...policiesOf(subject)
    .filter(({ spec }) => spec?.policyTypes?.join() !== 'Ingress,Egress')
    .map(({ metadata }) => `${metadata.name} is open in one direction`),
];
