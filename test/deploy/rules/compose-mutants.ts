/** Compose files with one mutation each, and the rule that has to detect it. */
import type { ComposeFile } from './compose-file.ts';
import { limitMutants } from './compose-limit-mutants.ts';
import * as network from './compose-network-rules.ts';
import * as rules from './compose-rules.ts';
import { reference, service, settings } from './mutated-compose.ts';
import type { Mutant } from './rule.ts';

export const composeMutants: readonly Mutant<ComposeFile>[] = [
  {
    what: 'a misspelt key',
    breaks: rules.fitsTheSchema,
    spoil: (file) => Object.assign(service(file, 'vault'), { helthcheck: {} }),
  },
  {
    what: 'a network of the wrong shape',
    breaks: rules.fitsTheSchema,
    spoil: (file) => Object.assign(service(file, 'vault'), { networks: 3 }),
  },
  {
    what: 'no webhook-dispatcher',
    breaks: rules.hasAllParts,
    spoil: (file) => {
      delete file.services['webhook-dispatcher'];
    },
  },
  {
    what: 'Prometheus for everybody',
    breaks: rules.hasAllParts,
    spoil: (file) => {
      delete service(file, 'prometheus').profiles;
    },
  },
  {
    what: 'a mailbox for everybody',
    breaks: rules.hasAllParts,
    spoil: (file) => {
      delete service(file, 'mailbox').profiles;
    },
  },
  {
    what: 'mail that lands in the mailbox unless somebody says otherwise',
    breaks: network.asksForMail,
    spoil: (file) => {
      delete settings(file, 'identity')['SMTP_URL_FILE'];
      settings(file, 'identity')['SMTP_URL'] = reference('SMTP_URL:-smtp://mailbox:1025');
    },
  },
  {
    what: 'mail that nobody is asked for',
    breaks: network.asksForMail,
    spoil: (file) => {
      delete settings(file, 'approval')['SMTP_URL_FILE'];
    },
  },
  {
    what: 'servers without TLS unless somebody says otherwise',
    breaks: network.requiresTls,
    spoil: (file) => {
      settings(file, 'vault')['CARDEA_REQUIRE_TLS'] = reference('CARDEA_REQUIRE_TLS:-false');
    },
  },
  {
    what: 'plaintext to a mail server unless somebody says otherwise',
    breaks: network.requiresTls,
    spoil: (file) => {
      const allowed = 'postgres,redis,kafka,eventstore,mailbox';
      settings(file, 'identity')['CARDEA_ALLOW_PLAINTEXT'] = allowed;
    },
  },
  {
    what: 'a published database',
    breaks: rules.publishesTwoPorts,
    spoil: (file) => {
      service(file, 'postgres').ports = ['127.0.0.1:5432:5432'];
    },
  },
  {
    what: 'a gateway for the whole network',
    breaks: rules.publishesTwoPorts,
    spoil: (file) => {
      service(file, 'gateway').ports = ['8080:8080'];
    },
  },
  {
    what: 'no health check',
    breaks: rules.checksHealth,
    spoil: (file) => {
      delete service(file, 'eventstore').healthcheck;
    },
  },
  {
    what: 'a health check without a limit',
    breaks: rules.checksHealth,
    spoil: (file) => {
      const { timeout: _, ...check } = service(file, 'audit-projector').healthcheck ?? {};
      service(file, 'audit-projector').healthcheck = check;
    },
  },
  {
    what: 'a file system that can be written',
    breaks: rules.confinesOurs,
    spoil: (file) => {
      service(file, 'approval').read_only = false;
    },
  },
  {
    what: 'capabilities',
    breaks: rules.confinesOurs,
    spoil: (file) => {
      delete service(file, 'identity').cap_drop;
    },
  },
  {
    what: 'a privileged container',
    breaks: rules.gainsNoPrivileges,
    spoil: (file) => {
      service(file, 'kafka').privileged = true;
    },
  },
  {
    what: 'root',
    breaks: rules.gainsNoPrivileges,
    spoil: (file) => {
      service(file, 'vault').user = '0:0';
    },
  },
  {
    what: 'a service that starts before its tables',
    breaks: rules.waitsForMigrations,
    spoil: (file) => {
      service(file, 'vault').depends_on = { postgres: { condition: 'service_started' } };
    },
  },
  {
    what: 'a service that needs EventStoreDB where nobody uses it',
    breaks: rules.waitsForMigrations,
    spoil: (file) => {
      const needs = structuredClone(service(file, 'vault').depends_on ?? {});
      delete needs['eventstore']?.required;
      service(file, 'vault').depends_on = needs;
    },
  },
  {
    what: 'topics that nobody makes',
    breaks: rules.migratesOnce,
    spoil: (file) => {
      service(file, 'migrate').command = ['node', 'src/cardea.ts', 'migrate', '--all'];
    },
  },
  {
    what: 'the newest Redis',
    breaks: rules.pinsImages,
    spoil: (file) => {
      service(file, 'redis').image = 'redis:latest';
    },
  },
  {
    what: 'a setting that is none',
    breaks: rules.knowsItsSettings,
    spoil: (file) => {
      settings(file, 'vault')['KAFKA_BROKER'] = 'kafka:9092';
    },
  },
  {
    what: 'a setting of the wrong form',
    breaks: rules.knowsItsSettings,
    spoil: (file) => {
      settings(file, 'vault')['JWT_EXPIRY'] = 'soon';
    },
  },
  {
    what: 'a secret of its own',
    breaks: rules.agreesOnSecrets,
    spoil: (file) => {
      settings(file, 'vault')['JWT_SECRET_FILE'] = '/run/secrets/ENCRYPTION_KEY';
    },
  },
  {
    what: 'a database with a way out',
    breaks: network.keepsServersInside,
    spoil: (file) => {
      service(file, 'postgres').networks = ['inside', 'outside'];
    },
  },
  {
    what: 'a Grafana beside Kafka',
    breaks: network.keepsServersInside,
    spoil: (file) => {
      service(file, 'grafana').networks = ['inside', 'data'];
    },
  },
  {
    what: 'a gateway that reaches EventStoreDB',
    breaks: network.keepsServersInside,
    spoil: (file) => {
      service(file, 'eventstore').networks = ['inside', 'data'];
    },
  },
  {
    what: 'servers with a way out',
    breaks: network.keepsServersInside,
    spoil: (file) => {
      file.networks['data'] = {};
    },
  },
  {
    what: 'an inside that is none',
    breaks: network.keepsServersInside,
    spoil: (file) => {
      file.networks['inside'] = {};
    },
  },
  {
    what: 'ten seconds to stop',
    breaks: rules.leavesTimeToStop,
    spoil: (file) => {
      service(file, 'identity').stop_grace_period = '10s';
    },
  },
  {
    what: "vault in identity's image",
    breaks: rules.buildsEachService,
    spoil: (file) => {
      service(file, 'vault').build = {
        dockerfile: 'deploy/Dockerfile',
        args: { SERVICE: 'identity' },
      };
    },
  },
  {
    what: 'an image of ours that may be pulled',
    breaks: rules.pullsNothingOfOurs,
    spoil: (file) => {
      delete service(file, 'vault').pull_policy;
    },
  },
  {
    what: 'a mount of nothing',
    breaks: rules.mountsWhatExists,
    spoil: (file) => {
      service(file, 'postgres').volumes = ['./deploy/nothing.sh:/x:ro'];
    },
  },
  {
    what: 'more connections than there are',
    breaks: rules.connectionsFit,
    spoil: (file) => {
      settings(file, 'identity')['DATABASE_POOL_SIZE'] = '200';
    },
  },
  ...limitMutants,
];
