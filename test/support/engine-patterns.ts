import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseSync } from 'vite';

export interface EnginePattern {
  /** Relative to `server/`, with `/`. */
  file: string;
  regexp: RegExp;
  /** Whether it is an argument of `boundedPattern`, and therefore only applied to the beginning of a text. */
  isBounded: boolean;
}

const folder = join(import.meta.dirname, '../../server');

/**
 * All regular expressions in the engine's sources, except those for what its user types on the command line. Those
 * built at run time are listed in `made`.
 */
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
    const isCall = node.type === 'CallExpression' && nameOf(node.callee) === 'boundedPattern';
    for (const value of Object.values(node)) visit(value, isCall, see);
  }
}
