export { type Addresses, type Cluster, startCluster } from './cluster.ts';
export { LOOPBACK } from './hosts.ts';
export { type Options, readOptions, USAGE } from './options.ts';
export { fetchKafka, missingPrograms } from './required-programs.ts';
export {
  lastOf,
  ServiceEnded,
  type ServiceProcess,
  serviceProcess,
} from './service-process.ts';
export { Stops } from './stops.ts';
