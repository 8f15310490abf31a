/**
 * What users and groups have, and how requests change it: whole (POST, PUT) or in part (PATCH), in the forms of RFC 7644 and
 * in those that Okta and Microsoft Entra send in their place: `op` in capitals, `active` as text, values without a path, and
 * paths as names of members. Attributes that Sluice does not keep are accepted and ignored, passwords among them. Pure.
 */

import { errorKinds, GatewayError } from '../../contract/errors.ts';
import type {
  ScimAttributes,
  ScimEmail,
  ScimGroupFilter,
  ScimRange,
  ScimUserFilter,
} from '../../store/ports/people-store.ts';

type Op = 'add' | 'replace' | 'remove';

/** A change of one attribute, or of a part of it. Names are in lower case. */
interface AttributeChange {
  op: Op;
  attribute: string;
  /** Of the values of a list, those whose member has this value. */
  filter: { member: string; value: string } | null;
  member: string | null;
  value: unknown;
}

/** What becomes of the members of a group. */
export type MemberChange = { is: 'added' | 'removed' | 'exactly'; ids: string[] };

export interface GroupChange {
  displayName?: string;
  externalId?: string | null;
  /** In order. */
  members: MemberChange[];
}

const maxText = 1_000;
/** Of what is in an index of the database, which has no room for more. */
const maxIndexedText = 256;
const maxEmails = 100;
const maxOperations = 1_000;
const nameMembers = ['formatted', 'familyName', 'givenName', 'middleName', 'honorificPrefix', 'honorificSuffix'];

export const newUser: ScimAttributes = {
  ...{ userName: '', externalId: null, active: true, displayName: null, name: {}, emails: [] },
};

/** The user that a whole one (POST, PUT) makes of this one: what it leaves out of `externalId` and `active` stays. */
export function replacedUser({ externalId, active }: ScimAttributes, body: unknown): ScimAttributes {
  const user = changedUser({ ...newUser, externalId, active }, changesOfObject('replace', objectOf(body)));
  if (user.userName === '') throw invalid('A user needs a userName.');
  return user;
}

/** The user after the operations of a PATCH. */
export function patchedUser(user: ScimAttributes, body: unknown): ScimAttributes {
  return changedUser(user, changesOfPatch(body));
}

/** What a whole group (POST, PUT) changes. Members that it leaves out stay as they are. */
export function replacedGroup(body: unknown): GroupChange {
  return groupChange(changesOfObject('replace', objectOf(body)));
}

export function patchedGroup(body: unknown): GroupChange {
  return groupChange(changesOfPatch(body));
}

function changesOfPatch(body: unknown): AttributeChange[] {
  const operations = memberOf(objectOf(body), 'operations');
  if (!Array.isArray(operations)) throw invalid('A PATCH needs a list of Operations.', 'invalidSyntax');
  if (operations.length > maxOperations) throw new ScimError(413, `A PATCH has at most ${maxOperations} operations.`);
  return operations.flatMap((each: unknown) => {
    const operation = objectOf(each);
    const op = asText(memberOf(operation, 'op'))?.toLowerCase();
    if (op !== 'add' && op !== 'replace' && op !== 'remove')
      throw invalid('An operation is add, replace or remove.', 'invalidSyntax');
    const given = memberOf(operation, 'path') ?? null;
    const value = memberOf(operation, 'value');
    if (given !== null) {
      const path = asText(given) ?? '';
      const change = changeAt(op, path, value);
      if (change) return [change];
      if (isOfExtension(path)) return [];
      throw invalid(`The path ${JSON.stringify(path.slice(0, maxText))} is not supported.`, 'invalidPath');
    }
    if (op === 'remove') throw invalid('An operation that removes needs a path.', 'noTarget');
    return changesOfObject(op, objectOf(value));
  });
}

/** Members without a value say nothing. */
const changesOfObject = (op: Op, object: object): AttributeChange[] =>
  Object.entries(object).flatMap(([path, value]) => (value === null ? [] : (changeAt(op, path, value) ?? [])));

const pathPattern = /^([a-z]\w*)(?:\[\s*([a-z$]\w*)\s+eq\s+("(?:[^"\\]|\\.)*"|\w+)\s*\])?(?:\.([a-z$]\w*))?$/i;

/** Null for any other path, such as that of an extension. */
function changeAt(op: Op, path: string, value: unknown): AttributeChange | null {
  const [whole, attribute = '', member, filtered = '', part] = pathPattern.exec(withoutSchema(path)) ?? [];
  if (whole === undefined) return null;
  const filter = member === undefined ? null : { member: member.toLowerCase(), value: unquoted(filtered) };
  return { op, attribute: attribute.toLowerCase(), filter, member: part?.toLowerCase() ?? null, value };
}

/** Such as that of enterprises. */
const isOfExtension = (path: string) => /^urn:/i.test(path);

/** The path without the name of its schema, if that is of the core. */
const withoutSchema = (path: string) => path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:\w+:/i, '');

/** The text of a quoted value, with its escapes resolved, or of one without quotes. */
function unquoted(value: string): string {
  const text = value.startsWith('"') ? parsedText(value) : value;
  if (text === null || text.includes('\0')) throw invalid(`${value} is no text in quotation marks.`, 'invalidSyntax');
  return text;
}

function parsedText(quoted: string): string | null {
  try {
    return asText(JSON.parse(quoted));
  } catch {
    return null;
  }
}

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

function changedUser(user: ScimAttributes, changes: readonly AttributeChange[]): ScimAttributes {
  return changes.reduce(changeUser, user);
}

function changeUser(user: ScimAttributes, change: AttributeChange): ScimAttributes {
  const { op, attribute, value } = change;
  switch (attribute) {
    case 'username':
      return { ...user, userName: requiredText('userName', op === 'remove' ? null : value, maxIndexedText) };
    case 'externalid':
      return { ...user, externalId: op === 'remove' ? null : optionalText('externalId', value, maxIndexedText) };
    case 'displayname':
      return { ...user, displayName: op === 'remove' ? null : optionalText('displayName', value) };
    case 'active':
      if (op === 'remove') throw invalid('active cannot be removed.');
      return { ...user, active: truthOf(value) };
    case 'name':
      return { ...user, name: changedName(user.name, change) };
    case 'emails':
      return { ...user, emails: changedEmails(user.emails, change) };
    default:
      return user;
  }
}

function changedName(name: ScimAttributes['name'], { op, member, value }: AttributeChange): ScimAttributes['name'] {
  if (member === null && op === 'remove') return {};
  const given = member === null ? objectOf(value) : { [member]: op === 'remove' ? null : value };
  const changed: Record<string, string> = { ...name };
  for (const each of nameMembers) {
    const text = memberOf(given, each.toLowerCase());
    if (text === undefined) continue;
    const kept = optionalText(`name.${each}`, text);
    if (kept === null) delete changed[each];
    else changed[each] = kept;
  }
  return changed;
}

function changedEmails(emails: readonly ScimEmail[], change: AttributeChange): ScimEmail[] {
  const { op, filter, member, value } = change;
  const isMeant = (email: ScimEmail) =>
    filter === null || String(memberOf(email, filter.member) ?? '').toLowerCase() === filter.value.toLowerCase();
  if (op === 'remove')
    return member === null || member === 'value' ? emails.filter((email) => !isMeant(email)) : [...emails];
  if (filter === null && member === null) {
    const given = (Array.isArray(value) ? value : [value]).flatMap(emailOf);
    const added = op === 'add' ? emails.filter(({ value: known }) => given.every((each) => each.value !== known)) : [];
    return atMost([...added, ...given]);
  }
  const changed = member === null ? objectOf(value) : { [member]: value };
  // Entra replaces the address for work of a user who had none.
  if (!emails.some(isMeant)) {
    const named = filter?.member === 'type' ? { type: filter.value } : {};
    return atMost([...emails, ...emailOf({ ...named, ...changed })]);
  }
  return emails.flatMap((email) => (isMeant(email) ? emailOf({ ...email, ...changed }) : email));
}

/** None for one without an address. What is empty says nothing: that must not stop what else is said of the user. */
function emailOf(given: unknown): ScimEmail[] {
  const object = objectOf(given);
  const value = optionalText('emails.value', memberOf(object, 'value'), maxIndexedText);
  const type = optionalText('emails.type', memberOf(object, 'type'));
  const display = optionalText('emails.display', memberOf(object, 'display'));
  const primary = memberOf(object, 'primary') ?? '';
  if (value === null) return [];
  return [
    {
      value,
      ...(type !== null && { type }),
      ...(display !== null && { display }),
      ...(primary !== '' && { primary: truthOf(primary) }),
    },
  ];
}

function atMost(emails: ScimEmail[]): ScimEmail[] {
  if (emails.length <= maxEmails) return emails;
  throw invalid(`A user has at most ${maxEmails} e-mail addresses.`);
}

function groupChange(changes: readonly AttributeChange[]): GroupChange {
  const changed: GroupChange = { members: [] };
  for (const { op, attribute, filter, value } of changes) {
    if (attribute === 'displayname')
      changed.displayName = requiredText('displayName', op === 'remove' ? null : value, maxIndexedText);
    if (attribute === 'externalid')
      changed.externalId = op === 'remove' ? null : optionalText('externalId', value, maxIndexedText);
    if (attribute === 'members') changed.members.push(memberChange(op, filter, value));
  }
  return changed;
}

function memberChange(op: Op, filter: AttributeChange['filter'], value: unknown): MemberChange {
  if (filter && (op !== 'remove' || filter.member !== 'value'))
    throw invalid('Of single members, only their removal by value is supported.', 'invalidPath');
  if (filter) return { is: 'removed', ids: [filter.value] };
  // Only a removal that names nobody is one of everybody.
  if ((value ?? null) === null && op !== 'remove') throw invalid('The members are missing.');
  if ((value ?? null) === null) return { is: 'exactly', ids: [] };
  const listed: unknown[] = Array.isArray(value) ? value : [value];
  const ids = listed.map((each) => requiredText('members.value', memberOf(objectOf(each), 'value')));
  if (op === 'add') return { is: 'added', ids };
  return { is: op === 'remove' ? 'removed' : 'exactly', ids };
}

/** Names of attributes are compared without regard to case. */
function memberOf(object: object, name: string): unknown {
  return Object.entries(object).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

function objectOf(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalid('A JSON object is expected.', 'invalidSyntax');
}

/** PostgreSQL stores no NUL. */
function optionalText(name: string, value: unknown, most = maxText): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'string' && value.length <= most && !value.includes('\0')) return value;
  throw invalid(`${name} is no text, or a text of more than ${most} characters.`);
}

function requiredText(name: string, value: unknown, most = maxText): string {
  const text = optionalText(name, value, most);
  if (text === null) throw invalid(`${name} is missing.`);
  return text;
}

/** Entra sends "True" and "False". */
function truthOf(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = asText(value)?.toLowerCase();
  if (text === 'true' || text === 'false') return text === 'true';
  throw invalid('active and primary are true or false.');
}

// Filters of a list, and which part of it is asked for (RFC 7644, 3.4.2). Pure.

/** No list is longer. */
export const maxResults = 200;

type Asked = Readonly<Record<string, unknown>>;

const userAttributes: Readonly<Record<string, keyof ScimUserFilter>> = {
  id: 'id',
  username: 'userName',
  externalid: 'externalId',
  active: 'active',
  emails: 'email',
  'emails.value': 'email',
  'emails[type eq "work"].value': 'email',
};

const groupAttributes: Readonly<Record<string, keyof ScimGroupFilter>> = {
  id: 'id',
  displayname: 'displayName',
  externalid: 'externalId',
  members: 'member',
  'members.value': 'member',
};

export function userFilter({ filter }: Asked): ScimUserFilter {
  const { active, ...texts } = comparisons(filter, userAttributes);
  if (active !== undefined && !/^(?:true|false)$/i.test(active))
    throw invalid('active is true or false.', 'invalidFilter');
  return { ...texts, ...(active !== undefined && { active: active.toLowerCase() === 'true' }) };
}

export function groupFilter({ filter }: Asked): ScimGroupFilter {
  return comparisons(filter, groupAttributes);
}

const comparison = /\s*([a-z][\w:.]*(?:\[[^\]]*\]\.\w+)?)\s+eq\s+("(?:[^"\\]|\\.)*"|[^\s"()]+)\s*(?:\band\b|$)/iy;

/** `userName eq "mia" and externalId eq "1"`. The one of each attribute must be the same. */
function comparisons<Name extends string>(
  filter: unknown,
  attributes: Readonly<Record<string, Name>>,
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  if (filter === undefined) return found;
  const text = String(filter);
  comparison.lastIndex = 0;
  do {
    const [, path = '', value = ''] = comparison.exec(text) ?? [];
    const local = withoutSchema(path).toLowerCase();
    const name = Object.hasOwn(attributes, local) ? attributes[local] : undefined;
    if (name === undefined || (found[name] ?? unquoted(value)) !== unquoted(value))
      throw invalid(`Only "eq" and "and" are supported, of ${Object.keys(attributes).join(', ')}.`, 'invalidFilter');
    found[name] = unquoted(value);
  } while (comparison.lastIndex < text.length);
  return found;
}

export function rangeOf({ startIndex, count }: Asked): ScimRange {
  return {
    skip: Math.max(1, wholeNumber('startIndex', startIndex, 1)) - 1,
    limit: Math.min(maxResults, Math.max(0, wholeNumber('count', count, maxResults))),
  };
}

function wholeNumber(name: string, value: unknown, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw invalid(`${name} is a whole number.`);
}

/** Without the attributes that are not asked for: `attributes=userName`, `excludedAttributes=members`. */
export function asked<Resource extends object>(resource: Resource, { attributes, excludedAttributes }: Asked): object {
  const only = namesIn(attributes);
  const without = namesIn(excludedAttributes);
  const isKept = (name: string) =>
    always.has(name) || ((only.size === 0 || only.has(name.toLowerCase())) && !without.has(name.toLowerCase()));
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isKept(name)));
}

const always = new Set(['schemas', 'id']);

/** The attributes in the list, of which a part may be named: `name.givenName`. */
function namesIn(list: unknown): Set<string> {
  const names = typeof list === 'string' ? list.split(',') : [];
  return new Set(names.map((name) => withoutSchema(name.trim()).toLowerCase().replace(/\..*$/, '')).filter(Boolean));
}

// Errors in the words of SCIM (RFC 7644, 3.12).

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'noTarget' | 'uniqueness';

export class ScimError extends Error {
  readonly status: number;
  readonly scimType: ScimType | null;

  constructor(status: number, detail: string, scimType: ScimType | null = null) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

export const notFound = (what: 'User' | 'Group', id: string) => new ScimError(404, `${what} ${id} not found.`);
export const invalid = (detail: string, scimType: ScimType = 'invalidValue') => new ScimError(400, detail, scimType);
export const taken = (detail: string) => new ScimError(409, detail, 'uniqueness');

/** Null for an error that is a bug. */
export function scimErrorOf(thrown: unknown): ScimError | null {
  if (thrown instanceof ScimError) return thrown;
  if (thrown instanceof GatewayError) return new ScimError(errorKinds[thrown.code].status, thrown.message);
  if (!(thrown instanceof Error) || !('status' in thrown) || typeof thrown.status !== 'number') return null;
  // Of Express and its body parser.
  switch ('type' in thrown ? thrown.type : null) {
    case 'entity.too.large':
      return new ScimError(413, 'The request is too large.');
    case 'entity.parse.failed':
      return invalid('The request is not valid JSON.', 'invalidSyntax');
    case 'charset.unsupported':
    case 'encoding.unsupported':
      return new ScimError(415, 'Send JSON in UTF-8.');
    default:
      return thrown.status < 500 ? new ScimError(thrown.status, 'The request cannot be read.') : null;
  }
}

export function describeScimError({ status, scimType, message }: ScimError) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(scimType !== null && { scimType }),
    detail: message,
  };
}
