/** Manifests with one mutation each, and the rule that has to detect it. */
import { givesEachServiceItsOwn } from './compartment-rules.ts';
import * as rules from './kubernetes-rules.ts';
import type { Container, Manifest, Manifests, PodSpec } from './manifests.ts';
import type { Mutant } from './rule.ts';
import * as traffic from './traffic-rules.ts';

const named = ({ documents }: Manifests, kind: string, name: string): Manifest => {
  const found = documents.find((each) => each.kind === kind && each.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name}`);
  return found;
};
const pod = (all: Manifests, name: string): PodSpec => rules.podOf(named(all, 'Deployment', name));
const container = (all: Manifests, name: string): Container => {
  const [found] = pod(all, name).containers;
  if (found === undefined) throw new Error(`no container in ${name}`);
  return found;
};
const spec = (all: Manifests, kind: string, name: string): NonNullable<Manifest['spec']> => {
  const document = named(all, kind, name);
  document.spec ??= {};
  return document.spec;
};
const policy = (all: Manifests, name: string): NonNullable<Manifest['spec']> =>
  spec(all, 'NetworkPolicy', name);

export const manifestMutants: readonly Mutant<Manifests>[] = [
  {
    what: 'a number for a name',
    breaks: rules.isWellFormed,
    spoil: (all) => Object.assign(container(all, 'vault'), { name: 1 }),
  },
  {
    what: 'a misspelt field',
    breaks: rules.spellsEachField,
    spoil: (all) => Object.assign(container(all, 'vault'), { livenesProbe: {} }),
  },
  {
    what: 'no budget for disruptions',
    breaks: rules.hasItsParts,
    spoil: (all) => {
      all.documents.splice(all.documents.indexOf(named(all, 'PodDisruptionBudget', 'authz')), 1);
    },
  },
  {
    what: "a Service before others' pods",
    breaks: rules.selectsItsPods,
    spoil: (all) => {
      spec(all, 'Service', 'vault').selector = { 'app.kubernetes.io/name': 'approval' };
    },
  },
  {
    what: 'a Service before a closed port',
    breaks: rules.servesWhatItListensOn,
    spoil: (all) => {
      spec(all, 'Service', 'vault').ports?.push({ name: 'x', port: 8082, targetPort: 'internal' });
    },
  },
  {
    what: 'one replica',
    breaks: rules.runsTwoReplicas,
    spoil: (all) => {
      spec(all, 'Deployment', 'identity').replicas = 1;
    },
  },
  {
    what: 'a roll-out that takes pods away first',
    breaks: rules.runsTwoReplicas,
    spoil: (all) => {
      spec(all, 'Deployment', 'identity').strategy = { rollingUpdate: { maxUnavailable: 1 } };
    },
  },
  {
    what: 'no migration',
    breaks: rules.migratesFirst,
    spoil: (all) => {
      delete pod(all, 'vault').initContainers;
    },
  },
  {
    what: "an installer's hook",
    breaks: rules.migratesFirst,
    spoil: (all) => {
      named(all, 'Deployment', 'vault').metadata.annotations = { 'helm.sh/hook': 'pre-install' };
    },
  },
  {
    what: 'no readiness',
    breaks: rules.probesItsState,
    spoil: (all) => {
      delete container(all, 'approval').readinessProbe;
    },
  },
  {
    what: "liveness at the API's port",
    breaks: rules.probesItsState,
    spoil: (all) => {
      container(all, 'approval').livenessProbe = { httpGet: { path: '/health', port: 'http' } };
    },
  },
  {
    what: 'a file system that can be written',
    breaks: rules.confinesEachContainer,
    spoil: (all) => {
      const { securityContext } = container(all, 'audit-projector');
      container(all, 'audit-projector').securityContext = {
        ...securityContext,
        readOnlyRootFilesystem: false,
      };
    },
  },
  {
    what: 'root',
    breaks: rules.confinesEachContainer,
    spoil: (all) => {
      pod(all, 'identity').securityContext = { runAsUser: 0 };
    },
  },
  {
    what: 'a CPU limit',
    breaks: rules.boundsItsMemory,
    spoil: (all) => {
      container(all, 'identity').resources = {
        requests: { cpu: '100m', memory: '192Mi' },
        limits: { cpu: '1', memory: '512Mi' },
      };
    },
  },
  {
    what: 'memory without bounds',
    breaks: rules.boundsItsMemory,
    spoil: (all) => {
      delete container(all, 'authz').resources;
    },
  },
  {
    what: 'ten seconds to stop',
    breaks: rules.stopsInTime,
    spoil: (all) => {
      pod(all, 'vault').terminationGracePeriodSeconds = 10;
    },
  },
  {
    what: 'a token of the cluster',
    breaks: rules.carriesNoToken,
    spoil: (all) => {
      delete named(all, 'ServiceAccount', 'vault').automountServiceAccountToken;
    },
  },
  {
    what: 'variables of every Service',
    breaks: rules.takesNoServiceLinks,
    spoil: (all) => {
      delete pod(all, 'vault').enableServiceLinks;
    },
  },
  {
    what: 'a secret as a variable',
    breaks: rules.keepsSecretsInFiles,
    spoil: (all) => {
      container(all, 'vault').env = [
        { name: 'JWT_SECRET', valueFrom: { secretKeyRef: { name: 'x', key: 'y' } } },
      ];
    },
  },
  {
    what: 'a secret in the settings',
    breaks: rules.keepsSecretsInFiles,
    spoil: (all) => {
      all.settings['REDIS_URL'] = 'redis://:password@redis:6379';
    },
  },
  {
    what: 'a service that owns the tables',
    breaks: rules.keepsTheOwnerApart,
    spoil: (all) => {
      container(all, 'vault').volumeMounts?.push({ name: 'migration', mountPath: '/x' });
    },
  },
  {
    what: 'a service that has what all have',
    breaks: givesEachServiceItsOwn,
    spoil: (all) => {
      container(all, 'webhook-dispatcher').volumeMounts?.push({ name: 'secrets', mountPath: '/x' });
    },
  },
  {
    what: "a service that is given another one's secrets",
    breaks: givesEachServiceItsOwn,
    spoil: (all) => {
      const [migrate, derive] = pod(all, 'vault').initContainers ?? [];
      const [other] = pod(all, 'authz').initContainers?.slice(-1) ?? [];
      if (migrate && derive && other) pod(all, 'vault').initContainers = [migrate, other];
    },
  },
  {
    what: 'a setting that is none',
    breaks: rules.knowsItsSettings,
    spoil: (all) => {
      all.settings['CARDEA_MODE'] = 'cluster';
    },
  },
  {
    what: 'a secret that is looked for where nothing is mounted',
    breaks: rules.knowsItsSettings,
    spoil: (all) => {
      all.settings['JWT_SECRET_FILE'] = '/run/secrets/elsewhere/JWT_SECRET';
    },
  },
  {
    what: 'an API that everybody reaches',
    breaks: traffic.letsInItsCallers,
    spoil: (all) => {
      policy(all, 'vault').ingress?.push({ ports: [{ port: 8080 }] });
    },
  },
  {
    what: 'a gateway that everybody reaches',
    breaks: traffic.letsInItsCallers,
    spoil: (all) => {
      policy(all, 'gateway').ingress = [{ ports: [{ port: 8080 }] }];
    },
  },
  {
    what: 'a gateway that believes every pod',
    breaks: traffic.believesNobodyUnnamed,
    spoil: (all) => {
      all.settings['GATEWAY_TRUSTED_PROXIES'] = '10.0.0.0/8';
    },
  },
  {
    what: "a gateway with the services' list of proxies",
    breaks: traffic.believesNobodyUnnamed,
    spoil: (all) => {
      for (const each of container(all, 'gateway').env ?? []) {
        if (each.name !== 'GATEWAY_TRUSTED_PROXIES') continue;
        each.valueFrom = { configMapKeyRef: { name: 'cardea-settings', key: 'TRUSTED_PROXIES' } };
      }
    },
  },
  {
    what: 'servers without TLS',
    breaks: traffic.requiresTls,
    spoil: (all) => {
      all.settings['CARDEA_REQUIRE_TLS'] = 'false';
    },
  },
  {
    what: 'a server that may do without TLS',
    breaks: traffic.requiresTls,
    spoil: (all) => {
      all.settings['CARDEA_ALLOW_PLAINTEXT'] = 'kafka';
    },
  },
  {
    what: 'an internal port for the gateway',
    breaks: traffic.letsInItsCallers,
    spoil: (all) => {
      const gateway = { podSelector: { matchLabels: { 'app.kubernetes.io/name': 'gateway' } } };
      policy(all, 'approval').ingress?.at(-1)?.from?.push(gateway);
    },
  },
  {
    what: 'a service that cannot ask identity',
    breaks: traffic.asksWhomItMay,
    spoil: (all) => {
      const { egress = [] } = policy(all, 'authz');
      policy(all, 'authz').egress = egress.filter(({ ports }) => ports?.[0]?.port !== 8082);
    },
  },
  {
    what: 'an audit log with a way out',
    breaks: traffic.reachesOutsideWhereItMust,
    spoil: (all) => {
      policy(all, 'audit-projector').egress?.push({ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] });
    },
  },
  {
    what: 'webhooks that reach the inside',
    breaks: traffic.reachesOutsideWhereItMust,
    spoil: (all) => {
      const { egress = [] } = policy(all, 'webhook-dispatcher');
      for (const { ipBlock } of egress.at(-1)?.to ?? []) {
        if (ipBlock !== undefined) ipBlock.except = ['10.0.0.0/8'];
      }
    },
  },
  {
    what: 'an open rest',
    breaks: traffic.deniesTheRest,
    spoil: (all) => {
      policy(all, 'deny-all').ingress = [{}];
    },
  },
];
