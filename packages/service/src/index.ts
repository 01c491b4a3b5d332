export { actorOf } from './command.ts';
export { type Host, startHost } from './host.ts';
export { type Given, type Infrastructure, infrastructure } from './infrastructure.ts';
export type { HostOptions } from './parts.ts';
export type { Loop, Peers, Policy, Service, ServiceDefinition, ServiceNeeds } from './service.ts';
export { type Sweep, sweeping } from './sweeping.ts';
