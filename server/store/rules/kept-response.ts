/**
 * A response that Sluice produced by translation, so that no provider stores it. The form of its id distinguishes it
 * from a response that is stored upstream.
 */
import { randomBytes } from 'node:crypto';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

export interface KeptResponse {
  id: string;
  /** The only group that may use the response. */
  groupId: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The response object that the client received, as JSON. */
  response: string;
  /** The complete `input`, including the conversation that it continues, as JSON. */
  input: string;
}

const beginning = 'resp_sluice_';

export function createKeptId(): string {
  return beginning + randomBytes(16).toString('hex');
}

export function isKeptId(id: string): boolean {
  return id.startsWith(beginning);
}

const itemIdPattern = boundedPattern(/^(?:msg|rs|fc|ctc)_sluice_([0-9a-f]{32})_[0-9]{1,6}$/);

/** Returns the id of the stored response that contains the output item; null for any other item id. */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = itemIdPattern.exec(itemId) ?? [];
  return hex === undefined ? null : beginning + hex;
}
