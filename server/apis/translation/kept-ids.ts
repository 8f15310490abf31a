/** The ids of responses that Sluice produced by translation and stores itself, and of the items in them. */
import { randomBytes } from 'node:crypto';
import { boundedPattern } from '../../ground/bounded-pattern.ts';

const beginning = 'resp_sluice_';
const itemKinds = ['msg', 'rs', 'fc', 'ctc'] as const;

export function createKeptId(): string {
  return beginning + randomBytes(16).toString('hex');
}

export function isKeptId(id: string): boolean {
  return id.startsWith(beginning);
}

export const keptItemBeginnings: readonly string[] = itemKinds.map((kind) => `${kind}_sluice_`);
const itemIdPattern = boundedPattern(/^(?:msg|rs|fc|ctc)_sluice_([0-9a-f]{32})_[0-9]{1,6}$/);

/** Returns the id of the stored response that contains the output item; null for any other item id. */
export function responseOfItem(itemId: string): string | null {
  const [, hex] = itemIdPattern.exec(itemId) ?? [];
  return hex === undefined ? null : beginning + hex;
}
