/**
 * A set of persons who may decide a request for approval: the holders of a role, or of a relation to an object. As a
 * text it is `role:admin` or `team:payments#approver`. Names that authz would quote in its reasons are quoted in the
 * same way.
 */
import Type, { type Static } from 'typebox';
import { named } from '../rest.ts';

export const SET_TEXT_MAX_CHARS = 512;
/** The most persons who may have to approve one request. */
export const APPROVALS_NEEDED_MAX = 5;

/** The shortest and longest time for which an agent may request access. */
export const AGENT_ACCESS_SECONDS_MIN = 300;
export const AGENT_ACCESS_SECONDS_MAX = 2_592_000;
export const AGENT_ACCESS_SECONDS_DEFAULT = 604_800;

export const ESCALATE_AFTER_SECONDS_MIN = 60;
export const ESCALATE_AFTER_SECONDS_MAX = 604_800;

const USER_ID_MAX_CHARS = 128;
const ROLE_MAX_CHARS = 64;
const NAME_MAX_CHARS = 256;
const roleName = Type.String({
  minLength: 1,
  maxLength: ROLE_MAX_CHARS,
  pattern: '^[A-Za-z0-9_.-]+$',
});
/** Control characters would be invisible on the page that names the set. */
const objectName = Type.String({
  minLength: 1,
  maxLength: NAME_MAX_CHARS,
  pattern: '^[^\\u0000-\\u001f\\u007f]+$',
});

export const RoleApprover = named(
  'RoleApprover',
  Type.Object({ role: roleName }, { additionalProperties: false }),
);
export const RelationApprover = named(
  'RelationApprover',
  Type.Object(
    { relation: objectName, object_type: objectName, object_id: objectName },
    { additionalProperties: false },
  ),
);
export const ApproverSetShape = Type.Union([RoleApprover, RelationApprover]);
export type ApproverSet = Static<typeof ApproverSetShape>;

export const UserApprover = named(
  'UserApprover',
  Type.Object(
    { user_id: Type.String({ minLength: 1, maxLength: USER_ID_MAX_CHARS }) },
    { additionalProperties: false },
  ),
);
/** One person, or a set of persons. */
export type NamedApprover = Static<typeof UserApprover> | ApproverSet;

/** A second approver, who may also decide a request once it has waited for `after_seconds`. */
export const EscalationShape = named(
  'ApprovalEscalation',
  Type.Object(
    {
      after_seconds: Type.Integer({
        minimum: ESCALATE_AFTER_SECONDS_MIN,
        maximum: ESCALATE_AFTER_SECONDS_MAX,
      }),
      approver: Type.Union([UserApprover, RoleApprover, RelationApprover]),
    },
    { additionalProperties: false },
  ),
);
export type Escalation = Static<typeof EscalationShape>;

const BARE = /^[A-Za-z0-9._~@/-]+$/;
const NAME = String.raw`([A-Za-z0-9._~@/-]+|"(?:[^"\\]|\\.)*")`;
const ROLE_TEXT = /^role:([A-Za-z0-9_.-]{1,64})$/;
const RELATION_TEXT = new RegExp(`^${NAME}:${NAME}#${NAME}$`);

const printName = (name: string): string => (BARE.test(name) ? name : JSON.stringify(name));

export const printApproverSet = (set: ApproverSet): string =>
  'role' in set
    ? `role:${set.role}`
    : `${printName(set.object_type)}:${printName(set.object_id)}#${printName(set.relation)}`;

/** The id of the person, or the text of the set. */
export const printApprover = (approver: NamedApprover): string =>
  'user_id' in approver ? approver.user_id : printApproverSet(approver);

/** Undefined if the text names no set, or if the set would be printed differently. */
export function readApproverSet(text: string): ApproverSet | undefined {
  if (text.length > SET_TEXT_MAX_CHARS) return undefined;
  const role = ROLE_TEXT.exec(text)?.[1];
  if (role !== undefined) return { role };
  const names = RELATION_TEXT.exec(text)?.slice(1).map(readName);
  const [object_type, object_id, relation] = names ?? [];
  if (object_type === undefined || object_id === undefined || relation === undefined) {
    return undefined;
  }
  const set = { relation, object_type, object_id };
  return printApproverSet(set) === text ? set : undefined;
}

function readName(printed: string): string | undefined {
  if (!printed.startsWith('"')) return printed;
  try {
    const name: unknown = JSON.parse(printed);
    return typeof name === 'string' && name !== '' ? name : undefined;
  } catch {
    return undefined; // The escape does not exist in JSON.
  }
}
