/**
 * A response that Sluice has made by translation, and that therefore no provider keeps. Its id tells it apart from one that is
 * stored upstream.
 */
import { randomBytes } from 'node:crypto';
import { pattern } from '../bounded-pattern.ts';

export interface KeptResponse {
  id: string;
  /** Only this group may use it. */
  groupId: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The response object as the client has it, as JSON. */
  response: string;
  /** The whole `input` that it answers, what it continues included, as JSON. */
  input: string;
}

const beginning = 'resp_sluice_';

export function newKeptId(): string {
  return beginning + randomBytes(16).toString('hex');
}

export function isKeptId(id: string): boolean {
  return id.startsWith(beginning);
}

const itemIdPattern = pattern(/^(?:msg|rs|fc|ctc)_sluice_([0-9a-f]{32})_[0-9]{1,6}$/);

/** The response whose output has the item of that id; null for an item of any other. */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = itemIdPattern.exec(itemId) ?? [];
  return hex === undefined ? null : beginning + hex;
}
