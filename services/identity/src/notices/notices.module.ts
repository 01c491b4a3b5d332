/** Mail to people about changes to their accounts' security. */
import type { Module } from '@cardea/service';
import {
  type NoticesDependencies,
  notifySecurityChanges,
} from './notify-security-changes.policy.ts';

export const noticesModule = (deps: NoticesDependencies): Module => ({
  policies: [notifySecurityChanges(deps)],
});
