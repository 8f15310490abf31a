import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseSync } from 'vite';

export interface EnginePattern {
  /** From `server/`, with `/`. */
  file: string;
  regexp: RegExp;
  /** It stands in a call of `pattern`, so that it sees the beginning of a text alone. */
  isBounded: boolean;
}

const folder = join(import.meta.dirname, '../../server');

/** Every regular expression that stands in the engine's sources, but for what its user types on the command line; those put together while it runs are told as `made`. */
export function findPatterns(): { found: EnginePattern[]; made: string[] } {
  const found: EnginePattern[] = [];
  const made: string[] = [];
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts') || path.startsWith('cli')) continue;
    const file = path.split(sep).join('/');
    visit(parseSync(path, readFileSync(join(folder, path), 'utf8')).program, false, (node, isBounded) => {
      if (isRecord(node.regex)) {
        const { pattern, flags } = node.regex;
        found.push({ file, regexp: new RegExp(String(pattern), String(flags)), isBounded });
      } else if (node.type === 'NewExpression' && nameOf(node.callee) === 'RegExp') made.push(file);
    });
  }
  return { found, made };
}

type Node = Record<string, unknown>;

const isRecord = (value: unknown): value is Node => typeof value === 'object' && value !== null;
const nameOf = (node: unknown) => (isRecord(node) ? node.name : undefined);

function visit(node: unknown, isBounded: boolean, see: (node: Node, isBounded: boolean) => void): void {
  if (Array.isArray(node)) for (const item of node) visit(item, isBounded, see);
  else if (isRecord(node)) {
    see(node, isBounded);
    const isCall = node.type === 'CallExpression' && nameOf(node.callee) === 'pattern';
    for (const value of Object.values(node)) visit(value, isCall, see);
  }
}
