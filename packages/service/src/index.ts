export type { Loop, Peers, Policy, Service, ServiceDefinition, ServiceNeeds } from './service.ts';
