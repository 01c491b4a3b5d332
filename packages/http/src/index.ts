export type {
  Answer,
  Area,
  Caller,
  Contract,
  Endpoint,
  Request,
  TenantRule,
  Who,
} from './endpoint.ts';
export { asAgent, asUser, endpoint } from './endpoint.ts';
